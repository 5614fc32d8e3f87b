import { describe, expect, it } from 'vitest'
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../generated/types.ts'
import { compileNodeSelector, compileRequiredNodes } from './node-matching.ts'

const node = { metadata: { name: 'n1', labels: { disk: 'ssd', cores: '8', empty: '' } } }

const require = (...nodeSelectorTerms: NodeSelectorTerm[]) => compileNodeSelector({ nodeSelectorTerms })(node)
const expression = (key: string, operator: string, ...values: string[]): NodeSelectorRequirement => ({ key, operator, values })

describe('compileNodeSelector()', () => {
  it.each<[string, NodeSelectorRequirement, boolean]>([
    ['In: one of the values', expression('disk', 'In', 'hdd', 'ssd'), true],
    ['In: none of them', expression('disk', 'In', 'hdd'), false],
    ['In: no such label', expression('zone', 'In', 'a'), false],
    ['NotIn: none of the values', expression('disk', 'NotIn', 'hdd'), true],
    ['NotIn: one of them', expression('disk', 'NotIn', 'ssd'), false],
    ['NotIn: no such label', expression('zone', 'NotIn', 'a'), true],
    ['Exists', expression('empty', 'Exists'), true],
    ['Exists: no such label', expression('zone', 'Exists'), false],
    ['DoesNotExist', expression('zone', 'DoesNotExist'), true],
    ['DoesNotExist: there is one', expression('disk', 'DoesNotExist'), false],
    ['Gt', expression('cores', 'Gt', '7'), true],
    ['Gt: the same', expression('cores', 'Gt', '8'), false],
    ['Gt: by value, not by text', expression('cores', 'Gt', '16'), false],
    ['Lt', expression('cores', 'Lt', '16'), true],
    ['Lt: the same', expression('cores', 'Lt', '8'), false],
    ['Lt: the label is no number', expression('disk', 'Lt', '8'), false],
    ['Lt: no such label', expression('zone', 'Lt', '8'), false],
    ['Gt: a limit that is no number', expression('cores', 'Gt', 'few'), false],
    ['an operator that there is not', expression('cores', 'Near', '8'), false],
  ])('%s', (_, requirement, expected) => {
    expect(require({ matchExpressions: [requirement] })).toBe(expected)
  })

  it.each<[string, NodeSelectorRequirement, boolean]>([
    ['by its name', expression('metadata.name', 'In', 'n1'), true],
    ['by the name of another', expression('metadata.name', 'In', 'n2'), false],
    ['not by the name of another', expression('metadata.name', 'NotIn', 'n2'), true],
    ['not by its name', expression('metadata.name', 'NotIn', 'n1'), false],
    ['by several names, which is not supported', expression('metadata.name', 'In', 'n1', 'n2'), false],
    ['by another field', expression('metadata.uid', 'In', 'n1'), false],
  ])('a field: %s', (_, requirement, expected) => {
    expect(require({ matchFields: [requirement] })).toBe(expected)
  })

  it('all of a term, one of the terms', () => {
    const [yes, no] = [expression('disk', 'In', 'ssd'), expression('disk', 'In', 'hdd')]
    expect(require({ matchExpressions: [yes, no] })).toBe(false)
    expect(require({ matchExpressions: [yes], matchFields: [expression('metadata.name', 'In', 'n2')] })).toBe(false)
    expect(require({ matchExpressions: [no] }, { matchExpressions: [yes] })).toBe(true)
  })

  it('no term, and a term that asks for nothing, is no node', () => {
    expect(require()).toBe(false)
    expect(require({})).toBe(false)
  })
})

describe('compileRequiredNodes()', () => {
  const affinity = (requirement: NodeSelectorRequirement) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [requirement] }] } },
  })
  it.each<[string, Parameters<typeof compileRequiredNodes>[0], boolean]>([
    ['asks for nothing', {}, true],
    ['labels that the node has', { nodeSelector: { disk: 'ssd', cores: '8' } }, true],
    ['a label of another value', { nodeSelector: { disk: 'hdd' } }, false],
    ['both', { nodeSelector: { disk: 'ssd' }, affinity: affinity(expression('cores', 'In', '8')) }, true],
    ['labels, and an affinity that it has not', { nodeSelector: { disk: 'ssd' }, affinity: affinity(expression('cores', 'In', '4')) }, false],
    ['what is merely preferred', { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [expression('disk', 'In', 'hdd')] } }] } } }, true],
  ])('%s', (_, spec, expected) => {
    expect(compileRequiredNodes(spec)(node)).toBe(expected)
  })
})
