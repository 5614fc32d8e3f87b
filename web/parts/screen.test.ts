import { describe, expect, it } from 'vitest'
import { Screen, keyText, runsOf } from './screen.ts'

function shown(...texts: string[]): string[] {
  const screen = new Screen(10, 4)
  for (const text of texts) screen.write(text)
  return screen.lines.map((line) => line.map(({ text }) => text).join('').trimEnd())
}

describe('Screen', () => {
  it.each([
    ['lines', ['a\r\nb'], ['a', 'b']],
    ['a line that is written over', ['loading\rdone   '], ['done']],
    ['what backspace and blank take away', ['lz\b \bs'], ['ls']],
    ['a long line on the next one', ['0123456789ab'], ['0123456789', 'ab']],
    ['a line without what was erased', ['abcdef\u001b[3D\u001b[K'], ['abc']],
    ['a cleared screen', ['a\r\nb\u001b[H\u001b[2Jnew'], ['new', '']],
    ['letters without their colours', ['\u001b[1;31mred\u001b[0m!'], ['red!']],
    ['a sequence that came in two parts', ['a\u001b[', '31mb'], ['ab']],
    ['a prompt without its title', ['\u001b]0;title\u0007$ '], ['$']],
    ['a deleted letter', ['abc\u001b[2D\u001b[P'], ['ac']],
  ])('shows %s', (_, texts, lines) => {
    expect(shown(...texts)).toEqual(lines)
  })

  it('keeps colours as classes', () => {
    const screen = new Screen(10, 4)
    screen.write('\u001b[1;31mx\u001b[39my')
    expect(screen.lines[0]!.map(({ style }) => style)).toEqual(['bold c1', 'bold'])
  })
})

describe('keyText()', () => {
  const key = (name: string, more = {}) => keyText({ key: name, ctrlKey: false, altKey: false, metaKey: false, ...more })

  it.each([
    ['a', {}, 'a'], ['Enter', {}, '\r'], ['c', { ctrlKey: true }, '\u0003'], ['ArrowUp', {}, '\u001b[A'], ['F5', {}, undefined], ['v', { metaKey: true }, undefined],
  ])('makes %s %j into %j', (name, more, text) => {
    expect(key(name, more)).toBe(text)
  })
})

describe('runsOf()', () => {
  const runs = (text: string, cursorAt?: number) => {
    const screen = new Screen(20, 4)
    screen.write(text)
    return runsOf(screen.lines[0]!, cursorAt).map((run) => `${run.style}:${run.text}`)
  }

  it.each<[string, string, number | undefined, string[]]>([
    ['one style', 'hello', undefined, [':hello']],
    ['colours', 'a\u001b[31mbc\u001b[0md', undefined, [':a', 'c1:bc', ':d']],
    ['the cursor within', 'abc', 1, [':a', 'cursor:b', ':c']],
    ['the cursor after the end', 'ab', 3, [':ab ', 'cursor: ']],
    ['nothing', '', undefined, []],
  ])('joins characters with %s', (_, text, cursorAt, expected) => {
    expect(runs(text, cursorAt)).toEqual(expected)
  })
})

it('Screen.versionOf() changes with the line only, and Screen counts dropped lines', () => {
  const screen = new Screen(20, 4)
  screen.write('one\r\ntwo')
  const [first, second] = screen.lines
  const before = [screen.versionOf(first!), screen.versionOf(second!)]
  screen.write('!')
  expect(screen.versionOf(first!)).toBe(before[0])
  expect(screen.versionOf(second!)).not.toBe(before[1])
  screen.write('\n'.repeat(1005))
  expect([screen.lines.length, screen.dropped]).toEqual([1000, 7])
})
