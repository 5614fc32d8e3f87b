import { describe, expect, it } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { PodTemplate } from '../../../api/generated/types.ts'
import type { Json } from '../../../api/object.ts'
import { decodeObject } from '../../../api/schema/index.ts'
import type { RuleContext } from '../../registry/resource.ts'
import { podtemplates } from './podtemplates.ts'

const ctx: RuleContext = { gates: FeatureGates.of(), now: 0 }

function sample(containers: object[], labels: Record<string, string> = {}): PodTemplate {
  const body = { metadata: { name: 't' }, template: { metadata: { labels }, spec: { containers } } }
  const template = decodeObject('PodTemplate', body as Json).object as unknown as PodTemplate
  podtemplates.defaults!(template, ctx)
  return template
}

const container = (name: string, image = 'i') => ({ name, image })

describe('podtemplates', () => {
  it('shows a template in a table', () => {
    const cells = (template: PodTemplate) => podtemplates.columns!.map((column) => column.cell(template, 0))
    expect(cells(sample([container('c'), container('d', 'j')], { b: '2', a: '1' }))).toEqual(['t', 'c,d', 'i,j', 'a=1,b=2'])
    expect(cells(sample([container('c')]))).toEqual(['t', 'c', 'i', '<none>'])
  })

  it('judges the template below its own name', () => {
    expect(podtemplates.validate(sample([]), ctx).map((e) => e.field)).toEqual(['template.spec.containers'])
  })

  it('counts changes of the template as generations', () => {
    const { changed } = podtemplates.generation as { changed(a: PodTemplate, b: PodTemplate): boolean }
    expect(changed(sample([container('c')]), sample([container('c')]))).toBe(false)
    expect(changed(sample([container('c', 'j')]), sample([container('c')]))).toBe(true)
  })
})
