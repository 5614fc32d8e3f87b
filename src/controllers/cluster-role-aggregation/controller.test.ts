import { describe, expect, it } from 'vitest'
import type { ClusterRole } from '../../api/generated/types.ts'
import { plan } from './controller.ts'

const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] })
const role = (name: string, labels: Record<string, string>, ...resources: string[]): ClusterRole => ({ metadata: { name, labels }, rules: resources.map(rule) })
const aggregate = (selectors: Record<string, string>[], rules: ClusterRole['rules'] = []): ClusterRole => ({
  metadata: { name: 'all', labels: { to: 'a' } },
  aggregationRule: { clusterRoleSelectors: selectors.map((matchLabels) => ({ matchLabels })) },
  rules,
})
const written = (own: ClusterRole, roles: ClusterRole[]) => plan({ role: own, roles: [own, ...roles] }).actions.map(({ rules }) => rules?.map((r) => r.resources?.[0]))

describe('plan()', () => {
  it.each([
    ['takes the rules of selected roles, by name', aggregate([{ to: 'a' }]), [role('z', { to: 'a' }, 'pods'), role('b', { to: 'a' }, 'nodes'), role('c', { to: 'b' }, 'secrets')], [['nodes', 'pods']]],
    ['goes selector by selector', aggregate([{ to: 'b' }, { to: 'a' }]), [role('x', { to: 'a' }, 'pods'), role('y', { to: 'b' }, 'nodes')], [['nodes', 'pods']]],
    ['takes each rule once', aggregate([{ to: 'a' }]), [role('x', { to: 'a' }, 'pods', 'nodes'), role('y', { to: 'a' }, 'pods')], [['pods', 'nodes']]],
    ['takes nothing from itself', aggregate([{ to: 'a' }], [rule('pods')]), [], [[]]],
    ['leaves what is right', aggregate([{ to: 'a' }], [rule('pods')]), [role('x', { to: 'a' }, 'pods')], []],
    ['leaves what has no rule of aggregation', role('plain', {}, 'pods'), [role('x', {}, 'nodes')], []],
  ])('%s', (_, own, roles, expected) => expect(written(own, roles)).toEqual(expected))
})
