"""Scripts that are written without spaces between words."""

SPACELESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x109F),  # Tibetan, Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19FF),  # Tai Le, New Tai Lue, Khmer symbols
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x2E80, 0x2FDF),  # Han: radicals
    (0x3005, 0x3007),  # Han: the iteration mark, the closing mark, zero
    (0x3021, 0x3029),  # Han: numerals
    (0x3031, 0x303B),  # kana repeat marks; Han: numerals, the vertical iteration mark
    (0x3040, 0x312F),  # hiragana, katakana, bopomofo
    (0x31A0, 0x31FF),  # bopomofo, Han strokes, katakana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0xA4CF),  # Han, Yi
    (0xA9E0, 0xA9FF),  # Myanmar
    (0xAA60, 0xAADF),  # Myanmar, Tai Viet
    (0xF900, 0xFAFF),  # Han: compatibility
    (0xFF66, 0xFF9F),  # katakana of half width
    (0x116D0, 0x116FF),  # Myanmar
    (0x1AFF0, 0x1B16F),  # kana
    (0x20000, 0x3FFFD),  # Han
)
"""First and last code points, by Unicode's blocks, of scripts that are written without spaces between words.

Han and bopomofo, kana, Thai, Lao, Khmer, Myanmar, Tibetan, the Tai scripts, Yi. All else, as Korean, is words by its
spaces. A combining mark (a vowel or tone of Thai) is a character like any other of its script.
"""
