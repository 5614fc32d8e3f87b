import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { onAbort } from './on-abort.ts'

it('onAbort() tells everybody who still waits, once, with one listener on the signal', () => {
  const abort = new AbortController()
  const told: number[] = []
  const cancels = Array.from({ length: 100 }, (_, i) => onAbort(abort.signal, () => told.push(i)))
  expect(getEventListeners(abort.signal, 'abort').length).toBe(1)
  for (const cancel of cancels.slice(1, 99)) cancel()
  expect(told).toEqual([])
  abort.abort()
  abort.abort()
  expect(told).toEqual([0, 99])
})

it('onAbort() does not tell who stops waiting because of another who was told', () => {
  const abort = new AbortController()
  const told: string[] = []
  let cancel = () => {}
  onAbort(abort.signal, () => {
    told.push('first')
    cancel()
  })
  cancel = onAbort(abort.signal, () => told.push('second'))
  abort.abort()
  expect(told).toEqual(['first'])
})
