import { describe, expect, it } from 'vitest'
import { barOf, cutLine, lineOf, oneLine, painted, tableLines, textOf, widthOf } from './line.ts'

describe('cutLine()', () => {
  it.each([
    ['fits', 'web', 3, 'web'],
    ['is too long', 'deployment', 5, 'depl…'],
    ['has wide letters, of which half does not fit', '日本語', 4, '日…'],
    ['has a letter of several code units', '🚢🚢🚢', 5, '🚢🚢…'],
    ['has no room at all', 'web', 1, '…'],
  ])('a line that %s', (_, text, width, cut) => {
    expect(textOf(cutLine(lineOf(text), width))).toBe(cut)
    expect(widthOf(cut)).toBeLessThanOrEqual(width)
  })

  it('keeps the tones of what is left', () => {
    expect(
      cutLine(
        [
          { text: 'web ', tone: 'bold' },
          { text: 'Stuck', tone: 'bad' },
        ],
        6,
      ),
    ).toEqual([
      { text: 'web ', tone: 'bold' },
      { text: 'S…', tone: 'bad' },
    ])
  })
})

describe('painted()', () => {
  const line = [{ text: 'Stuck', tone: 'bad' as const }, { text: ' web' }]
  it('colours on a terminal', () => expect(painted(line, true)).toBe('\u001b[31mStuck\u001b[0m web'))
  it('does not in a file', () => expect(painted(line, false)).toBe('Stuck web'))
})

it('oneLine() leaves nothing that moves a cursor', () => {
  expect(oneLine('no\nsuch\timage\u001b[2J\u0007 ')).toBe('no such image [2J')
})

it('tableLines() aligns columns, wide letters included, and does not pad the last', () => {
  const rows = [
    [{ text: 'web' }, { text: 'a' }],
    [{ text: '日本' }, { text: 'bb' }],
  ]
  expect(tableLines(['NAME', 'X'], rows).map(textOf)).toEqual(['NAME  X', 'web   a', '日本  bb'])
})

describe('barOf()', () => {
  it.each([
    [0, '░░░░'],
    [0.001, '▏░░░'],
    [0.5, '██░░'],
    [0.9999, '███▉'],
    [1, '████'],
    [2, '████'],
  ])('%d', (share, bar) => expect(barOf(share, 4)).toBe(bar))
})
