import { describe, expect, it } from 'vitest'
import { sampleNode, samplePod, sampleWorld, scores } from '../sample-world.ts'
import { balancedAllocation } from './balanced-allocation.ts'

const nodes = ['even', 'uneven'].map((name) => sampleNode(name, { allocatable: { cpu: '4', memory: '4Gi' } }))
const pods = [samplePod('other', { node: 'uneven', requests: { cpu: '2' } })]

describe('NodeResourcesBalancedAllocation', () => {
  it('prefers nodes whose CPU and memory are used up evenly', () => {
    // Half of the distance between 3/4 of the CPU and 1/4 of the memory.
    expect(scores(balancedAllocation, samplePod('web', { requests: { cpu: '1', memory: '1Gi' } }), sampleWorld({ nodes, pods }))).toEqual({ even: 100, uneven: 75 })
  })

  it('has no opinion about pods that ask for neither', () => {
    expect(scores(balancedAllocation, samplePod('web'), sampleWorld({ nodes, pods }))).toBeUndefined()
  })
})
