import { describe, expect, it } from 'vitest'
import { KnownStates, type Listed } from './known-states.ts'

const sandbox = (phase: Listed['phase']): Listed => ({ id: 's', sandboxId: 's', phase })
const container = (phase: Listed['phase']): Listed => ({ id: 'c', sandboxId: 's', phase })

function knownStates() {
  const told: string[] = []
  const known = new KnownStates(({ kind, containerId }) => told.push(`${containerId ?? 'sandbox'} ${kind}`))
  return { known, told }
}

describe('KnownStates', () => {
  it('tells each change once, whoever sees it', () => {
    const { known, told } = knownStates()
    known.note('s', 's', 'started')
    expect(known.look()([sandbox('started'), container('created')])).toBe(1)
    known.note('c', 's', 'started')
    expect(known.look()([sandbox('started'), container('started')])).toBe(0)
    expect(known.look()([sandbox('stopped'), container('stopped')])).toBe(2)
    expect(told).toEqual(['sandbox started', 'c created', 'c started', 'sandbox stopped', 'c stopped'])
  })

  it('does not go back to a phase that is over', () => {
    const { known, told } = knownStates()
    const take = known.look()
    known.note('c', 's', 'stopped')
    take([container('started')])
    expect(told).toEqual(['c stopped'])
  })

  it('takes what is missing from a look for gone, unless it was made meanwhile', () => {
    const { known, told } = knownStates()
    known.note('s', 's', 'started')
    const take = known.look()
    known.note('c', 's', 'created')
    take([sandbox('started')])
    expect(told).toEqual(['sandbox started', 'c created'])
    known.look()([])
    expect(told.slice(2)).toEqual(['sandbox deleted', 'c deleted'])
  })

  it('does not bring back what was removed during a look', () => {
    const { known, told } = knownStates()
    known.note('c', 's', 'stopped')
    const take = known.look()
    known.removed('c')
    take([container('stopped')])
    known.look()([])
    expect(told).toEqual(['c stopped', 'c deleted'])
  })
})
