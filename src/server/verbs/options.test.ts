import { describe, expect, it } from 'vitest'
import { parseWriteOptions, queryBoolean, queryInteger } from './options.ts'

const query = (text: string) => new URLSearchParams(text)

describe('parseWriteOptions()', () => {
  it.each([
    ['', { dryRun: false, force: false, fieldValidation: 'Warn' }],
    ['dryRun=All&dryRun=All&fieldValidation=Strict', { dryRun: true, force: false, fieldValidation: 'Strict' }],
    ['fieldValidation=Ignore&fieldManager=kubectl edit', { dryRun: false, force: false, fieldValidation: 'Ignore' }],
  ])('reads %j', (text, expected) => {
    expect(parseWriteOptions(query(text), 'CreateOptions')).toEqual(expected)
  })

  it.each([
    ['dryRun=', 'dryRun: Unsupported value: [""]: supported values: "All"'],
    ['dryRun=All&dryRun=Some', 'dryRun: Unsupported value: ["All","Some"]: supported values: "All"'],
    ['fieldValidation=x', 'fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"'],
    [`fieldManager=${'x'.repeat(129)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
    ['force=true', 'force: Forbidden: may not be specified for non-apply patch'],
    ['force=false', 'force: Forbidden: may not be specified for non-apply patch'],
    ['dryRun=x&fieldManager=%00', '[fieldManager: Invalid value: "\\u0000": invalid character U+0000 (at position 0), dryRun: Unsupported value: ["x"]: supported values: "All"]'],
    ['fieldManager=%C3%A4%00', 'fieldManager: Invalid value: "ä\\u0000": invalid character U+0000 (at position 2)'],
  ])('refuses %j', (text, message) => {
    expect(() => parseWriteOptions(query(text), 'PatchOptions')).toThrow(`PatchOptions.meta.k8s.io "" is invalid: ${message}`)
  })
})

it('parseWriteOptions() passes over force where nothing is patched', () => {
  expect(parseWriteOptions(query('force=true'), 'UpdateOptions')).toEqual({ dryRun: false, force: false, fieldValidation: 'Warn' })
})

describe('queryInteger()', () => {
  it.each([['', undefined], ['n=', undefined], ['n=5', 5], ['n=-5', -5], ['n=%2B5', 5], ['n=5&n=6', 5], ['n=9223372036854775807', 2n ** 63n - 1n]])('reads %j', (text, expected) => {
    expect(queryInteger(query(text), 'n')).toBe(expected)
  })

  it.each([['n=x', 'invalid syntax'], ['n=1.5', 'invalid syntax'], ['n=1e3', 'invalid syntax'], ['n=9223372036854775808', 'value out of range']])('refuses %j', (text, why) => {
    expect(() => queryInteger(query(text), 'n')).toThrow(why)
  })
})

it('queryBoolean() is yes where it is there, and neither false nor 0', () => {
  expect(['', 'b', 'b=', 'b=1', 'b=true', 'b=x', 'b=0', 'b=false', 'b=FALSE'].map((t) => queryBoolean(query(t), 'b'))).toEqual([false, true, true, true, true, true, false, false, false])
})
