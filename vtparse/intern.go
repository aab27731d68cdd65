package vtparse

// This file numbers styles and clusters, so that a cell stays at eight bytes.
// Rules: a number, once given out, keeps its meaning for everybody who holds
// the same *tables; the tables of a terminal are bounded by what its cells
// still use, whatever the stream tries.

// tables is the read side: it never changes after it was handed out.
type tables struct {
	styles   []Style
	clusters []string
	epoch    uint64 // changes when numbers get a new meaning
}

// internBudget is how many unused styles or clusters may pile up before the
// terminal looks which of them are still in use: 16 bytes a style, at most
// 32 bytes a cluster.
const internBudget = 1 << 15

// styleCacheSize is a power of two; agents switch between a few dozen styles.
const styleCacheSize = 256

type interner struct {
	tables
	styleIDs   map[Style]uint32
	clusterIDs map[string]uint32
	limit      int // entries of either table that trigger a compaction
	frozen     *tables
	newest     [newestStyles]cachedStyle // looked at first: the few of one status line, side by side
	next       uint8                     // the one of newest that goes next
	cache      [styleCacheSize]cachedStyle
}

const newestStyles = 4

type cachedStyle struct {
	style Style
	id    uint32
}

func (in *interner) reset() {
	*in = interner{
		tables:     tables{styles: []Style{{}}, epoch: in.epoch + 1},
		styleIDs:   map[Style]uint32{{}: 0},
		clusterIDs: map[string]uint32{},
		limit:      internBudget,
	}
}

// styleID numbers s. It allocates only for a style that was never seen.
func (in *interner) styleID(s Style) uint32 {
	if s == (Style{}) { // after every reset
		return 0
	}
	for i := range in.newest {
		if e := &in.newest[i]; e.style == s {
			return e.id // no entry means the default style
		}
	}
	id := in.cachedID(s)
	in.newest[in.next%newestStyles] = cachedStyle{s, id}
	in.next++
	return id
}

// cachedID is styleID for what is not among the newest.
func (in *interner) cachedID(s Style) uint32 {
	h := uint32(s.Fg)*0x9e3779b1 ^ uint32(s.Bg)*0x85ebca6b ^ uint32(s.Ul)*0xc2b2ae35 ^ uint32(s.Attr)*0x27d4eb2f ^ uint32(s.UlStyle)*0x165667b1
	e := &in.cache[h>>24&(styleCacheSize-1)]
	if e.style == s {
		return e.id // the zero entry means the default style, number 0
	}
	id, ok := in.styleIDs[s]
	if !ok {
		id = uint32(len(in.styles))
		in.styles = append(in.styles, s)
		in.styleIDs[s] = id
	}
	*e = cachedStyle{s, id}
	return id
}

// clusterID numbers the text of a cell of more than one code point.
func (in *interner) clusterID(text []byte) uint32 {
	id, ok := in.clusterIDs[string(text)]
	if !ok {
		s := string(text)
		id = uint32(len(in.clusters))
		in.clusters = append(in.clusters, s)
		in.clusterIDs[s] = id
	}
	return id
}

func (in *interner) full() bool {
	return len(in.styles) >= in.limit || len(in.clusters) >= in.limit
}

// freeze returns the tables as a value that published rows may keep. Appending
// to the live tables never touches what a frozen value can see.
func (in *interner) freeze() *tables {
	if in.frozen == nil || len(in.frozen.styles) != len(in.styles) || len(in.frozen.clusters) != len(in.clusters) {
		f := in.tables
		in.frozen = &f
	}
	return in.frozen
}

// compact forgets everything that no cell uses any more. each must call its
// argument with every slice of live cells; they are renumbered in place.
func (in *interner) compact(each func(func([]cell))) {
	old := in.tables
	styles := make([]uint32, len(old.styles))
	clusters := make([]uint32, len(old.clusters))
	in.reset()
	var text []byte
	each(func(cells []cell) {
		for i, c := range cells {
			if s := c.style(); s != 0 {
				if styles[s] == 0 {
					styles[s] = in.styleID(old.styles[s])
				}
				c = c&^styleMask | cell(styles[s])<<styleShift
			}
			if c&cellCluster != 0 {
				n := c & cellRuneMask
				if clusters[n] == 0 {
					text = append(text[:0], old.clusters[n]...)
					clusters[n] = in.clusterID(text) + 1
				}
				c = c&^cellRuneMask | cell(clusters[n]-1)
			}
			cells[i] = c
		}
	})
	in.limit = max(internBudget, 2*max(len(in.styles), len(in.clusters)))
}
