import { describe, expect, it } from 'vitest'
import { Screen, keyText } from './screen.ts'

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
