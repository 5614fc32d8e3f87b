import { expect, it } from 'vitest'
import { progressOn } from './progress.ts'

it.each([
  ['says what is being done', true, 'opening the store …\nstarting nodes …\n'],
  ['says nothing where nobody looks', false, ''],
])('progressOn() %s', (_, isTTY, expected) => {
  let written = ''
  const tell = progressOn({ isTTY, write: (text) => (written += text) })
  tell('opening the store')
  tell('starting nodes')
  expect(written).toBe(expected)
})
