import { afterEach, describe, expect, it, vi } from 'vitest'
import { resourcequotas } from './core/resourcequotas.ts'
import { withSettings } from './settings.ts'

afterEach(() => vi.restoreAllMocks())

describe('withSettings()', () => {
  it('does not read the message of each error: one that quotes a long list is made anew each time', () => {
    const scopes = Array.from({ length: 20_000 }, (_, i) => `S${i}`)
    const [allowing] = withSettings([resourcequotas], { allowPrivileged: true })
    const written = vi.spyOn(JSON, 'stringify')
    const errors = allowing!.validate({ metadata: {}, spec: { scopes }, status: {} } as never, {} as never)
    const calls = written.mock.calls.length
    expect(errors).toHaveLength(20_000)
    expect(calls).toBe(0)
    expect(errors[0]!.message).toMatch(/^Invalid value: \["S0",.*\]: unsupported scope$/)
    expect(written.mock.calls.length).toBe(1)
  })
})
