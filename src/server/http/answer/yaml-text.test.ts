import { expect, it } from 'vitest'
import { yamlText } from './yaml-text.ts'

it.each<[string, unknown, string]>([
  ['keys in order and lists that are not indented', { b: 1, a: [{ y: 1, x: [] }, 'z'] }, 'a:\n- x: []\n  "y": 1\n- z\nb: 1\n'],
  ['nothing', { a: {}, b: null, c: '' }, 'a: {}\nb: null\nc: ""\n'],
  ['texts that look like something else', { a: 'true', b: '1', c: 'no', d: '1e3', e: '2024-01-01T00:00:00Z', f: '~', g: '0x1f', h: '1:30' }, 'a: "true"\nb: "1"\nc: "no"\nd: "1e3"\ne: "2024-01-01T00:00:00Z"\nf: "~"\ng: "0x1f"\nh: "1:30"\n'],
  ['texts with a meaning in YAML', { a: 'x: y', b: '*', c: '- z', d: '{}', e: '#1' }, "a: 'x: y'\nb: '*'\nc: '- z'\nd: '{}'\ne: '#1'\n"],
  ['plain texts', { a: 'v1', b: "it's", c: 'say "hi"', d: '10.0.0.1', e: 'EVWiDmWqyJw=', f: 'http://x' }, 'a: v1\nb: it\'s\nc: say "hi"\nd: 10.0.0.1\ne: EVWiDmWqyJw=\nf: http://x\n'],
  ['lines', { a: 'x\ny\n', b: 'x\ny' }, 'a: |\n  x\n  y\nb: |-\n  x\n  y\n'],
  ['long lines whole', { a: 'word '.repeat(50).trim() }, `a: ${'word '.repeat(50).trim()}\n`],
])('yamlText() writes %s', async (_, value, wanted) => {
  expect(await yamlText(value)).toBe(wanted)
})
