import { expect, it } from 'vitest'
import { type LogLevel, Logger } from './logger.ts'

function logger(level?: LogLevel) {
  const lines: Record<string, unknown>[] = []
  return { lines, log: new Logger((line) => lines.push(JSON.parse(line) as Record<string, unknown>), level, {}, () => 0) }
}

it('Logger writes one JSON object a line, with time, level, message and fields', () => {
  const { lines, log } = logger()
  log.info('hello', { a: 1, msg2: 'line\nbreak' })
  expect(lines).toEqual([{ time: '1970-01-01T00:00:00.000Z', level: 'info', msg: 'hello', a: 1, msg2: 'line\nbreak' }])
})

it.each([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
] as const)('Logger at %s says what is as grave or graver', (level, expected) => {
  const { lines, log } = logger(level)
  for (const one of ['debug', 'info', 'warn', 'error'] as const) log[one]('x')
  expect(lines.map((l) => l.level)).toEqual(expected)
  expect(log.isEnabled('debug')).toBe(level === 'debug')
})

it('Logger writes integers that are no safe numbers as text', () => {
  const { lines, log } = logger()
  log.info('counted', { generation: 2n ** 63n - 1n })
  expect(lines[0]!.generation).toBe('9223372036854775807')
})

it('Logger writes errors with where they came from', () => {
  const { lines, log } = logger()
  log.error('failed', { error: new Error('why') })
  expect(String(lines[0]!.error)).toMatch(/^Error: why\n\s+at /)
})

it('Logger.child() adds its fields to every line, at the same level', () => {
  const { lines, log } = logger('warn')
  const child = log.child({ part: 'a' }).child({ of: 'b' })
  child.info('no')
  child.warn('yes', { of: 'c' })
  expect(lines).toMatchObject([{ msg: 'yes', part: 'a', of: 'c' }])
})
