import { expect, it } from 'vitest'
import { WatchPace } from './watch-pace.ts'

/** When each of these arrivals (time, events) is sent. */
const sentAt = (arrivals: [number, number][]): number[] => {
  const pace = new WatchPace()
  return arrivals.map(([at, events]) => at + pace.delayMs(at, events))
}

it.each<[string, [number, number][], number[]]>([
  ['a single event', [[0, 1]], [0]],
  ['one pod after the other: three events every four milliseconds', [[0, 1], [1, 1], [2, 1], [4, 1], [5, 1], [6, 1], [8, 1], [9, 1]], [0, 1, 2, 4, 5, 6, 8, 9]],
  ['many at once', [[0, 7]], [4]],
  ['more and more', [[0, 3], [1, 3], [2, 3], [3, 3]], [0, 1, 4, 4]],
  ['under load the next window is gathered from its start', [[0, 7], [4, 1], [5, 1]], [4, 8, 8]],
  ['a window without load ends it', [[0, 7], [4, 1], [8, 1], [9, 1]], [4, 8, 8, 9]],
  ['so does a pause', [[0, 7], [15, 1]], [4, 15]],
])('WatchPace: %s', (_, arrivals, expected) => {
  expect(sentAt(arrivals)).toEqual(expected)
})
