// An esbuild plugin that writes `{ ...o, x }` as `{ ...null, ...o, x }`. The V8 of Node 20 copies `o` with a hidden
// class of its own, and each property that follows makes another one for this very object: 2.2 µs and 355 bytes for
// five properties, and 240 ns for each property that is read of many such objects. An object that begins with
// something else shares its classes with all others of the same form: 0.09 µs, 140 bytes, 5 ns.
import { readFile } from 'node:fs/promises'
import { parseAst } from 'rolldown/parseAst'

/** Calls `visit` with each node of a syntax tree. */
function walk(node, visit) {
  if (Array.isArray(node)) for (const item of node) walk(item, visit)
  else if (typeof node === 'object' && node !== null) {
    if (typeof node.type === 'string') visit(node)
    for (const key in node) walk(node[key], visit)
  }
}

/** The TypeScript text with all object literals that begin with a spread changed. No line moves. */
export function sharedSpreads(text) {
  if (!/\{\s*\.\.\./.test(text)) return text
  const places = []
  walk(parseAst(text, { lang: 'ts' }), (node) => {
    const first = node.type === 'ObjectExpression' ? node.properties[0] : undefined
    if (first?.type === 'SpreadElement') places.push(first.start)
  })
  let out = ''
  let from = 0
  for (const place of places.sort((a, b) => a - b)) {
    out += `${text.slice(from, place)}...null, `
    from = place
  }
  return out + text.slice(from)
}

/** Applies it to the sources; packages are left alone. */
export const spreads = {
  name: 'spreads',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      return { contents: sharedSpreads(await readFile(path, 'utf8')), loader: 'ts' }
    })
  },
}
