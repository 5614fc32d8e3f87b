import { describe, expect, it } from 'vitest'
import { limitOf } from './kubectl.ts'
import { words } from './words.ts'

describe('limitOf()', () => {
  it.each([
    ['get pods', 20_000],
    ['wait --for=condition=Ready pod/a --timeout=90s', 95_000],
    ['wait --timeout 1m30s pod/a', 95_000],
    ['delete pod a --timeout=19s', 24_000],
    ['delete pod a --timeout=300ms', 20_000],
    ['rollout status deployment/a --timeout=0', 20_000],
    ['delete pod a --timeout', 20_000],
  ])('kubectl %s is ended after %i ms', (line, limitMs) => {
    expect(limitOf(words(line), 20_000)).toBe(limitMs)
  })
})
