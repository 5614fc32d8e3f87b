import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { explainStartError, runUntilStopped } from './run-until-stopped.ts'

class Exit extends Error {}

const exits: (number | string | null | undefined)[] = []

beforeEach(() => {
  exits.length = 0
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    exits.push(code)
    throw new Exit('exit')
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  for (const signal of ['SIGTERM', 'SIGINT']) process.removeAllListeners(signal)
})

describe('runUntilStopped()', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('stops what runs on %s, and ends well', async (signal) => {
    let stops = 0
    const ended = runUntilStopped({ stop: async () => void stops++ }).catch((e: unknown) => e)
    expect(stops).toBe(0)
    process.emit(signal, signal)
    expect(await ended).toBeInstanceOf(Exit)
    expect([stops, exits]).toEqual([1, [0]])
  })

  it('stops what has failed, and ends with an error', async () => {
    let stops = 0
    const ended = runUntilStopped({ stop: async () => void stops++, failed: Promise.resolve() }).catch((e: unknown) => e)
    expect(await ended).toBeInstanceOf(Exit)
    expect([stops, exits]).toEqual([1, [1]])
  })

  it('ends in time if what has failed does not stop', async () => {
    vi.useFakeTimers()
    try {
      void runUntilStopped({ stop: () => new Promise<void>(() => {}), failed: Promise.resolve() })
      await vi.advanceTimersByTimeAsync(9999)
      expect(exits).toEqual([])
      expect(() => vi.advanceTimersByTime(1)).toThrow(Exit)
      expect(exits).toEqual([1])
    } finally {
      vi.useRealTimers()
    }
  })

  it('ends at once on a second signal', async () => {
    void runUntilStopped({ stop: () => new Promise<void>(() => {}) })
    process.emit('SIGTERM', 'SIGTERM')
    await Promise.resolve()
    expect(() => process.emit('SIGINT', 'SIGINT')).toThrow(Exit)
    expect(exits).toEqual([1])
  })
})

describe('explainStartError()', () => {
  const system = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall })

  it.each([
    ['a port that is taken', system('EADDRINUSE', 'listen'), 'port 6443 is already in use: choose another with --secure-port, or 0 for a free one'],
    ['a port that is not for everybody', system('EACCES', 'listen'), 'port 6443 may not be used: choose another with --secure-port'],
    ['a file that is not for everybody', system('EACCES', 'open'), 'EACCES'],
    ['anything else', new Error('else'), 'else'],
    ['what is no error', 'text', 'text'],
  ])('%s', (_what, error, message) => {
    expect(explainStartError(error, 6443).message).toBe(message)
  })

  it('names the flag that the command has for its port', () => {
    expect(explainStartError(system('EADDRINUSE', 'listen'), 9464, '--port').message).toContain('choose another with --port, or 0')
  })
})
