// An esbuild plugin that writes `{ ...o, x }` as `{ ...null, ...o, x }`. The V8 of Node 20 copies `o` with a separate
// hidden class, and each further property creates another hidden class for this object: 2.2 µs and 355 bytes for five
// properties, and 240 ns for each read of a property of many such objects. An object literal that begins with something
// else shares its hidden classes with all objects of the same form: 0.09 µs, 140 bytes, 5 ns.
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

/** Changes all object literals that begin with a spread. Line numbers do not change. */
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

/** Applies it to the sources, not to packages. */
export const spreads = {
  name: 'spreads',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      return { contents: sharedSpreads(await readFile(path, 'utf8')), loader: 'ts' }
    })
  },
}
