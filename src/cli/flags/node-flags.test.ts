import { expect, it } from 'vitest'
import { nodeNameOf } from './node-flags.ts'

it.each([
  ['vm', 'vm'],
  ['Annas-MacBook.local', 'annas-macbook.local'],
  ['build_host 7', 'build-host-7'],
  ['_odd_._name_', 'odd.name'],
  ['--', 'node'],
  ['', 'node'],
])('nodeNameOf(%j) is %s', (machine, name) => {
  expect(nodeNameOf(machine)).toBe(name)
})
