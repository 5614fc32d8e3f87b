const symbols = new Set(['=', '==', '!=', '!', '(', ')', ',', '>', '<'])
const keywords = new Set(['in', 'notin'])

type TokenKind = '=' | '==' | '!=' | '!' | '(' | ')' | ',' | '>' | '<' | 'in' | 'notin' | 'name' | 'end' | 'error'

/** A token of a selector, with the text that errors quote. */
export interface Token {
  kind: TokenKind
  text: string
}

const isSymbol = (char: string | undefined) => char !== undefined && '=!(),><'.includes(char)
const isSpace = (char: string | undefined) => char === ' ' || char === '\t' || char === '\r' || char === '\n'

/** The tokens of a label selector, ending with `end`. A NUL ends the text, as in Kubernetes. */
export function* scanSelector(selector: string): Generator<Token, void> {
  const nul = selector.indexOf('\0')
  const text = nul < 0 ? selector : selector.slice(0, nul)
  let at = 0
  while (at < text.length) {
    if (isSpace(text[at])) {
      at++
      continue
    }
    const start = at
    if (isSymbol(text[at])) {
      // The longest symbol wins, so `!=` and `==` are one token.
      at += symbols.has(text.slice(at, at + 2)) ? 2 : 1
    } else {
      while (at < text.length && !isSymbol(text[at]) && !isSpace(text[at])) at++
    }
    const word = text.slice(start, at)
    const kind = symbols.has(word) || keywords.has(word) ? (word as TokenKind) : 'name'
    yield { kind, text: word }
  }
  yield { kind: 'end', text: '' }
}
