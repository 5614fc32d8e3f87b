import { describe, expect, it } from 'vitest'
import { generatedName } from './generated-name.ts'

describe('generatedName()', () => {
  const next = (values: number[]) => ({ next: () => values.shift() ?? 0 })

  it('adds five letters that are hard to mistake', () => {
    expect(generatedName('x-', next([0, 0, 0, 0, 0]))).toBe('x-bbbbb')
    expect(generatedName('x-', next([0.9999, 0.9999, 0.9999, 0.9999, 0.9999]))).toBe('x-99999')
  })

  it('leaves room for them', () => {
    expect(generatedName('x'.repeat(100), next([]))).toHaveLength(63)
  })
})
