/** Law 8 once more, in a real browser: other decoders, another stack, another JSON.parse. */
import './fuzz.test.ts'
