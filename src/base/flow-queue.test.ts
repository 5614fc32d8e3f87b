import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FlowQueue } from './flow-queue.ts'

test('FlowQueue serves flows in turn, and each in its order', () => {
  const queue = new FlowQueue<string>()
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item)
  queue.push('b', 'b1')
  const taken = [queue.take(), queue.take()]
  queue.push('b', 'b2')
  for (let i = 0; i < 3; i++) taken.push(queue.take())
  expect(taken).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
  expect([queue.isEmpty, queue.take()]).toEqual([true, undefined])
})

test('a flow that comes new is served next, but no more than once a round', () => {
  const queue = new FlowQueue<string>()
  for (let i = 0; i < 10; i++) for (const flow of ['a', 'b']) queue.push(flow, flow)
  for (let i = 0; i < 5; i++) queue.take()
  const taken: (string | undefined)[] = []
  for (let i = 0; i < 6; i++) {
    queue.push('rare', 'rare')
    taken.push(queue.take())
  }
  // It came first at once, and then has the same turns as the others.
  expect(taken).toEqual(['rare', 'b', 'a', 'rare', 'b', 'a'])
})

test('FlowQueue loses nothing, and keeps nobody waiting for more than a round and the flows that come new', () => {
  const step = fc.oneof(fc.constantFrom('a', 'b', 'c', 'd').map((flow) => ({ flow })), fc.constant('take' as const))
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const queue = new FlowQueue<{ flow: string; n: number }>()
    const waiting: { flow: string; n: number; passed: number }[] = []
    for (const [n, now] of steps.entries()) {
      if (now !== 'take') {
        queue.push(now.flow, { flow: now.flow, n })
        waiting.push({ flow: now.flow, n, passed: 0 })
        continue
      }
      const taken = queue.take()
      const first = waiting.find((one) => one.flow === taken?.flow)
      expect(taken?.n).toBe(first?.n)
      if (first) waiting.splice(waiting.indexOf(first), 1)
      for (const flow of new Set(waiting.map((one) => one.flow))) {
        const head = waiting.find((one) => one.flow === flow)!
        // Each of three other flows may be fresh and known once each before it is this one's turn.
        expect(++head.passed).toBeLessThanOrEqual(7)
      }
    }
    expect(queue.isEmpty).toBe(waiting.length === 0)
  }))
})
