package rpc

import "encoding/json"

// This file holds the methods about the daemon's store. Ours.

const (
	MethodStoreCheck   = "store_check"   // nil -> StoreReport
	MethodStoreCompact = "store_compact" // nil -> StoreCompacted
	MethodStoreExport  = "store_export"  // nil -> nil, then NotifyStoreRow for every record

	NotifyStoreRow = "store_row" // StoreRow
)

// StoreReport is the result of a check: sizes, and what is broken.
type StoreReport struct {
	Dir    string         `json:"dir"`
	Schema int            `json:"schema"`
	Bytes  int64          `json:"bytes"`
	Tables map[string]int `json:"tables"` // records
	Faults []string       `json:"faults"` // empty = sound
}

// StoreCompacted tells the file's size in bytes before and after.
type StoreCompacted struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// StoreRow is one record of an export, secrets taken out of its texts.
type StoreRow struct {
	Table string          `json:"table"`
	ID    string          `json:"id,omitempty"`
	Seq   uint64          `json:"seq,omitempty"`
	Rev   uint64          `json:"rev,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}
