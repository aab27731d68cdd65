// Package config is akk's one settings file: TOML, every key optional.
//
// It promises: a file that is not there is the defaults; a key that akk does
// not know is an error with its line, so that a typing mistake never passes
// for a setting; a value that would not work is refused here, with what would.
//
// It refuses: to write the file, and to hold a secret.
package config
