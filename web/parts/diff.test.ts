import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changedParts, diffLines } from './diff.ts'

const shown = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => `${{ same: ' ', gone: '-', new: '+' }[kind]}${text}`)

describe('diffLines()', () => {
  it.each([
    ['the same', 'a\nb', 'a\nb', [' a', ' b']],
    ['a changed line', 'a\nimage: 1\nc', 'a\nimage: 2\nc', [' a', '-image: 1', '+image: 2', ' c']],
    ['a new line', 'a\nc', 'a\nb\nc', [' a', '+b', ' c']],
    ['a line that is gone', 'a\nb\nc', 'a\nc', [' a', '-b', ' c']],
  ])('shows %s', (_, before, after, lines) => {
    expect(shown(before, after)).toEqual(lines)
  })

  it('always leads from one text to the other', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 12 }).map((lines) => lines.join('\n'))
    fc.assert(fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after)
      const side = (left: string) => lines.filter(({ kind }) => kind !== left).map(({ text }) => text).join('\n')
      expect([side('new'), side('gone')]).toEqual([before, after])
    }))
  })
})

it('changedParts() leaves out what is far from any change', () => {
  const before = Array.from({ length: 12 }, (_, i) => `line ${i}`).join('\n')
  const parts = changedParts(diffLines(before, before.replace('line 6', 'other')), 1)
  expect(parts.map((line) => line?.text ?? '…')).toEqual(['…', 'line 5', 'line 6', 'other', 'line 7', '…'])
})
