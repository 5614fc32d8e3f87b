import { describe, expect, it } from 'vitest'
import type { Json } from '../../api/object.ts'
import type { PodStatus } from '../../api/generated/types.ts'
import { applyStrategicMergePatch } from '../../api/patches/strategic-merge-patch.ts'
import { statusPatch } from './status-patch.ts'

const condition = (type: string, status = 'True', more = {}) => ({ type, status, lastTransitionTime: '2026-01-01T12:00:00Z', ...more })

/** The stored status after the patch. */
const patched = (stored: PodStatus, wanted: PodStatus): PodStatus => {
  const patch = { status: statusPatch(stored, wanted)! } as unknown as Json
  return (applyStrategicMergePatch({ status: stored } as unknown as Json, patch, 'Pod') as unknown as { status: PodStatus }).status
}

describe('statusPatch()', () => {
  it('is nothing where nothing would change', () => {
    const status: PodStatus = { phase: 'Running', conditions: [condition('Ready')] }
    expect(statusPatch(status, structuredClone(status))).toBeUndefined()
  })

  it('is nothing where others have moved our conditions, and no more', () => {
    const [ready, scheduled, theirs] = [condition('Ready'), condition('PodScheduled'), condition('example.com/theirs')]
    expect(statusPatch({ conditions: [scheduled, theirs, ready] }, { conditions: [ready, scheduled] })).toBeUndefined()
  })

  it('leaves alone what others say, and puts ours in our order', () => {
    const stored: PodStatus = { phase: 'Pending', nominatedNodeName: 'n', conditions: [condition('PodScheduled'), condition('example.com/theirs')] }
    const wanted: PodStatus = { phase: 'Running', conditions: [condition('Ready'), condition('PodScheduled')] }
    const result = patched(stored, wanted)
    expect(result).toMatchObject({ phase: 'Running', nominatedNodeName: 'n' })
    expect(result.conditions?.map((c) => c.type)).toEqual(['Ready', 'PodScheduled', 'example.com/theirs'])
    expect(statusPatch(result, wanted)).toBeUndefined()
  })

  it('takes back a reason and a message', () => {
    const result = patched({ conditions: [condition('Ready', 'False', { reason: 'R', message: 'm' })] }, { conditions: [condition('Ready')] })
    expect(result.conditions).toEqual([condition('Ready')])
  })

  it('replaces addresses instead of adding to them', () => {
    const result = patched({ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }, { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] })
    expect(result.podIPs).toEqual([{ ip: '10.0.0.2' }])
    expect(patched({ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }, {})).toEqual({})
  })

  it('keeps a condition of ours that is not computed any more', () => {
    const stored: PodStatus = { conditions: [condition('PodReadyToStartContainers'), condition('Ready')] }
    expect(statusPatch(stored, { conditions: [condition('Ready')] })).toBeUndefined()
  })

  it('removes the condition of a resize that is not pending any more', () => {
    const result = patched({ conditions: [condition('Ready'), condition('PodResizePending'), condition('example.com/theirs')] }, { conditions: [condition('Ready')] })
    expect(result.conditions?.map(({ type }) => type)).toEqual(['Ready', 'example.com/theirs'])
    expect(statusPatch(result, { conditions: [condition('Ready')] })).toBeUndefined()
  })
})
