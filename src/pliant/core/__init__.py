"""What a program is: types, values, functions, their text. Knows no primitive."""
