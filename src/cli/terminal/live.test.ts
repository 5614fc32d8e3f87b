import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineOf } from './line.ts'
import { LiveView } from './live.ts'
import { Screen } from './testing.ts'

const drawOn = (screen: Screen) => {
  const view = new LiveView(screen)
  return { view, draw: (...lines: string[]) => view.draw(lines.map((text) => lineOf(text))) }
}

describe('LiveView', () => {
  it('shows exactly the lines that were drawn last, whatever was there before', () => {
    const picture = fc.array(fc.stringMatching(/^[a-z]{0,12}$/), { maxLength: 8 })
    fc.assert(
      fc.property(fc.array(picture, { minLength: 1, maxLength: 6 }), (pictures) => {
        const screen = new Screen(20, 24)
        const { draw } = drawOn(screen)
        for (const lines of pictures) draw(...lines)
        const last = [...pictures.at(-1)!]
        while (last.at(-1) === '') last.pop()
        expect(screen.lines).toEqual(last)
      }),
    )
  })

  it('writes nothing but lines that have changed', () => {
    const screen = new Screen(20, 24)
    const { draw } = drawOn(screen)
    draw('a', 'b', 'c')
    screen.written = 0
    draw('a', 'x', 'c')
    expect(screen.written).toBe(1)
    draw('a', 'x', 'c')
    expect(screen.written).toBe(1)
  })

  it('cuts lines to the width and counts those that do not fit on the screen', () => {
    const screen = new Screen(6, 4)
    drawOn(screen).draw('deployment', 'b', 'c', 'd', 'e')
    expect(screen.lines).toEqual(['deplo…', 'b', '… and…'])
  })

  it.each([
    ['narrower', 4],
    ['wider', 40],
  ])('draws itself anew on a terminal that has become %s', (_, columns) => {
    const screen = new Screen(10, 24)
    const { draw } = drawOn(screen)
    draw('0123456789', 'b', '0123456789')
    screen.resize(columns, 24)
    const cut = columns < 10 ? '012…' : '0123456789'
    expect(screen.lines).toEqual([cut, 'b', cut])
    draw('c')
    expect(screen.lines).toEqual(['c'])
  })

  it('hides the cursor until it is closed, and draws nothing afterwards', () => {
    const screen = new Screen(10, 24)
    const { view, draw } = drawOn(screen)
    expect(screen.isCursorHidden).toBe(true)
    draw('a')
    view.close()
    draw('b')
    expect(screen.isCursorHidden).toBe(false)
    expect(screen.lines).toEqual(['a'])
  })
})
