import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'

const script = pathToFileURL(path.resolve('scripts/spreads.mjs')).href
const { sharedSpreads } = (await import(script)) as { sharedSpreads: (text: string) => string }

describe('the build begins object literals that copy another with something else', () => {
  it.each([
    ['a copy with one member more', 'const a = { ...b, c: 1 }', 'const a = { ...null, ...b, c: 1 }'],
    ['a copy alone, to which members may be added', 'const a = {...b}', 'const a = {...null, ...b}'],
    ['one within another', 'f({ ...a, b: { ...c, d } })', 'f({ ...null, ...a, b: { ...null, ...c, d } })'],
    ['what a function answers', 'const f = (x: X): X => ({ ...x!, y: 1 })', 'const f = (x: X): X => ({ ...null, ...x!, y: 1 })'],
    ['one behind letters that are not ASCII', "f('ä日😀', { ...a, b })", "f('ä日😀', { ...null, ...a, b })"],
    ['over several lines, none of which moves', 'f({\n  ...a,\n  b,\n})', 'f({\n  ...null, ...a,\n  b,\n})'],
  ])('%s', (_, text, wanted) => {
    expect(sharedSpreads(text)).toBe(wanted)
  })

  it.each([
    ['a copy behind a member', 'const a = { c: 1, ...b }'],
    ['the rest of an object', 'const { ...rest } = a; const f = ({ ...more }) => more'],
    ['a list', 'f(...[...a, b])'],
    ['a text', "const a = '{ ...b, c }' + `{ ...b, c }`"],
  ])('leaves alone %s', (_, text) => {
    expect(sharedSpreads(text)).toBe(text)
  })
})
