import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { type Decision, type OwnerState, decide } from './owners.ts'

const told = (decision: Decision): string => {
  if (decision.kind === 'Disown') return `Disown ${decision.refs.map((r) => r.name).join()}`
  return decision.kind === 'Delete' ? `Delete ${decision.policy}` : decision.kind
}

interface Row {
  name: string
  owners: OwnerState[]
  hasDependents?: boolean
  finalizers?: string[]
  wanted: string
}

const rows: Row[] = [
  { name: 'has no owners', owners: [], wanted: 'Keep' },
  { name: 'has an owner', owners: ['solid'], wanted: 'Keep' },
  { name: 'has several owners', owners: ['solid', 'solid'], wanted: 'Keep' },
  { name: 'lost its only owner', owners: ['gone'], wanted: 'Delete Background' },
  { name: 'lost all its owners', owners: ['gone', 'gone'], wanted: 'Delete Background' },
  { name: 'lost one of its owners', owners: ['gone', 'solid'], wanted: 'Disown 0' },
  { name: 'keeps one of three owners, of which one waits', owners: ['gone', 'waiting', 'solid'], wanted: 'Disown 0,1' },
  { name: 'is waited for', owners: ['waiting'], wanted: 'Delete Background' },
  { name: 'is waited for and has dependents', owners: ['waiting'], hasDependents: true, wanted: 'Delete Foreground' },
  { name: 'is waited for by one, lost another, and has dependents', owners: ['gone', 'waiting'], hasDependents: true, wanted: 'Delete Foreground' },
  { name: 'lost its owner and has dependents', owners: ['gone'], hasDependents: true, wanted: 'Delete Background' },
  { name: 'lost its owner and wants its dependents to be orphaned', owners: ['gone'], finalizers: ['orphan'], wanted: 'Delete Orphan' },
  { name: 'lost its owner and wants its dependents to go first', owners: ['gone'], finalizers: ['foregroundDeletion'], wanted: 'Delete Foreground' },
  { name: 'lost its owner and has a finalizer of somebody', owners: ['gone'], finalizers: ['example.com/x'], wanted: 'Delete Background' },
]

describe('decide() about an object that', () => {
  it.each(rows)('$name', ({ owners, hasDependents = false, finalizers, wanted }) => {
    const object: KubeObject = { metadata: { name: 'x', ...(finalizers ? { finalizers } : {}) } }
    const judged = owners.map((state, i) => ({ ref: { apiVersion: 'v1', kind: 'ConfigMap', name: String(i), uid: String(i) }, state }))
    expect(told(decide(object, judged, hasDependents))).toBe(wanted)
  })
})
