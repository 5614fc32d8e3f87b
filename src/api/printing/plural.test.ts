import { expect, it } from 'vitest'
import { allOf, countOf, shareOf } from './plural.ts'

it.each([
  [countOf(1, 'pod'), '1 pod'],
  [countOf(0, 'pod'), '0 pods'],
  [countOf(2, 'pod has', 'pods have'), '2 pods have'],
  [shareOf(0, 1, 'replica'), '0 of 1 replica is'],
  [shareOf(1, 2, 'replica'), '1 of 2 replicas is'],
  [shareOf(0, 2, 'node', ['has', 'have']), '0 of 2 nodes have'],
  [shareOf(2, 2, 'node'), '2 of 2 nodes are'],
  [shareOf(0, 0, 'replica'), '0 of 0 replicas are'],
  [allOf(1, 'replica'), 'its only replica'],
  [allOf(2, 'replica'), 'all 2 replicas'],
])('%s', (text, expected) => expect(text).toBe(expected))
