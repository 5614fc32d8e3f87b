import { expect, it } from 'vitest'
import type { PodCondition, PodStatus } from '../../api/generated/types.ts'
import { withStoredReadiness } from './readiness.ts'

const condition = (type: string, status: string, reason?: string): PodCondition =>
  ({ type, status, ...(reason ? { reason } : {}) })
const containers = condition('ContainersReady', 'True')
const ready = condition('Ready', 'True')
const unready = condition('Ready', 'False', 'ContainersNotReady')
const marked = condition('Ready', 'False')
const said = (...conditions: PodCondition[]): PodStatus => ({ phase: 'Running', conditions })

it.each<[string, PodStatus | undefined, PodStatus, PodStatus]>([
  ['leaves a mark', said(marked), said(ready, containers), said(marked, containers)],
  ['leaves that it was not ready before', said(unready), said(ready), said(unready)],
  ['does not say it where nobody has', said(containers), said(ready, containers), said(containers)],
  ['does not say it of a pod without a status', undefined, said(containers, ready), said(containers)],
  ['says again what is said already', said(ready), said(ready, containers), said(ready, containers)],
  ['says that it is not ready any more', said(ready), said(unready), said(unready)],
  ['says why it is not ready', said(marked), said(unready), said(unready)],
])('withStoredReadiness() %s', (_, stored, wanted, expected) => {
  expect(withStoredReadiness(stored, wanted)).toEqual(expected)
})
