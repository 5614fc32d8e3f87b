import { expect, it } from 'vitest'
import type { Deployment, Namespace, Pod } from '../api/generated/types.ts'
import type { New } from './draft.ts'

// Judged by the compiler: a line that is wrong here, or right where an error is expected, fails the type check.
const namespace: New<Namespace> = { metadata: { name: 'rowers' } }
const pod: New<Pod> = { metadata: { name: 'one' }, spec: { containers: [{ name: 'main', image: 'app' }] } }
const deployment: New<Deployment> = {
  metadata: { generateName: 'web-' },
  spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main' }] } } },
}
// @ts-expect-error: a pod has containers.
const empty: New<Pod> = { metadata: { name: 'one' }, spec: {} }
// @ts-expect-error: a container has a name.
const nameless: New<Pod> = { metadata: { name: 'one' }, spec: { containers: [{ image: 'app' }] } }
// @ts-expect-error: everything has metadata.
const unnamed: New<Namespace> = {}

it('New asks for what the server would refuse an object without, and for nothing that it fills in', () => {
  expect([namespace, pod, deployment, empty, nameless, unnamed]).toHaveLength(6)
})
