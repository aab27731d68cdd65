package vtparse

// Attr is a set of SGR attributes. Underline has its style beside it.
type Attr uint16

// The attributes, by their SGR number.
const (
	Bold      Attr = 1 << iota // 1
	Faint                      // 2
	Italic                     // 3
	Underline                  // 4, any style
	Blink                      // 5
	Reverse                    // 7
	Hidden                     // 8
	Strike                     // 9
	Overline                   // 53
)

// Color is 0 for the terminal's default, or an indexed or RGB colour.
type Color uint32

const (
	colorIndexed Color = 1 << 24
	colorRGB     Color = 1 << 25
)

// Indexed returns palette colour n (0..255).
func Indexed(n uint8) Color { return colorIndexed | Color(n) }

// RGB returns a direct colour.
func RGB(r, g, b uint8) Color { return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b) }

// Index tells the palette number, and whether c is an indexed colour.
func (c Color) Index() (uint8, bool) { return uint8(c), c&colorIndexed != 0 }

// RGB tells the components, and whether c is a direct colour.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c&colorRGB != 0
}

// Style is everything about a cell but its text. The zero value is the default.
type Style struct {
	Fg, Bg, Ul Color
	Attr       Attr
	UlStyle    uint8 // 0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed
}

// Has tells whether all attributes of a are set.
func (s Style) Has(a Attr) bool { return s.Attr&a == a }
