// Package ui is what a human sees and presses: the sidebar (tcell), its text
// form for a stdout that is no terminal, and the player of recordings. The
// folder ui/launch holds the few one-off tmux commands behind a key press.
//
// It promises: drawing is a pure function of a Model and a size, so a picture
// can be tested; text that an agent or a pane chose is drawn cell by cell with
// our own widths and can never carry an escape sequence; a state is told by a
// letter and a word, never by colour alone (NO_COLOR is obeyed).
//
// It refuses: to know the desk otherwise than through the rows that
// bridge/rpc's follow method sends, and to type into a pane.
package ui
