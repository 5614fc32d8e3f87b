import { beforeAll, describe, expect, it } from 'vitest'
import type { CloneSet } from '../../src/api/generated/types.ts'
import { useCluster } from '../kubectl/cluster.ts'
import { cloneSetExamples } from './cloneset-examples.ts'

const cluster = useCluster()
const ok = (line: string, input = '', env = {}) => cluster.kubectl.ok(line, input, env)
const read = (reference: string, path: string) => ok(`get ${reference} -o jsonpath='${path}'`)
const inV1alpha1 = (name: string) => `clonesets.v1alpha1.apps.kruise.io/${name}`

const manifest = (name: string, more: object = {}, version = 'v1alpha1') => {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1' }] } }
  return JSON.stringify({ apiVersion: `apps.kruise.io/${version}`, kind: 'CloneSet', metadata: { name }, spec: { replicas: 3, selector: { matchLabels: labels }, template, ...more } })
}

describe('the examples of OpenKruise’s documentation', () => {
  const all = cloneSetExamples.flatMap(({ v1alpha1, v1beta1 }) => [v1alpha1, v1beta1]).join('---\n')
  const names = [...all.matchAll(/^ {2}name: (.*)$/gm)].map(([, name]) => name!)

  it('are taken as they are, in both versions', async () => {
    expect((await ok('apply -f -', all)).trim().split('\n')).toEqual(names.map((name) => `cloneset.apps.kruise.io/${name} created`))
  })

  it('change nothing when they are applied again', async () => {
    const versions = () => read('clone', '{range .items[*]}{.metadata.name} {.metadata.resourceVersion} {end}')
    const before = await versions()
    await ok('apply -f -', all)
    expect(await versions()).toBe(before)
    expect(await ok('diff -f -', all)).toBe('')
  })

  it.each(['v1alpha1', 'v1beta1'])('say the same whichever version they were written in, read in %s', async (version) => {
    const { items } = JSON.parse(await ok(`get clonesets.${version}.apps.kruise.io -o json`)) as { items: CloneSet[] }
    const specOf = (name: string) => items.find((item) => item.metadata.name === name)?.spec
    for (const { name } of cloneSetExamples) {
      // By default only v1alpha1 reuses claims.
      const { scaleStrategy: _, ...written } = specOf(`${name}-alpha`)!
      expect(specOf(`${name}-beta`)).toMatchObject(written)
    }
  })
})

describe('kubectl and a CloneSet', () => {
  beforeAll(() => ok('create -f -', manifest('web')))

  it('shows it as OpenKruise does', async () => {
    const status = { replicas: 4, readyReplicas: 3, updatedReplicas: 2, updatedReadyReplicas: 2, updatedAvailableReplicas: 1 }
    await ok(`patch clone web --subresource=status --type=merge -p '${JSON.stringify({ status })}'`)
    expect(await ok('get clone web')).toMatch(
      /^NAME {3}DESIRED {3}UPDATED {3}UPDATED_READY {3}UPDATED_AVAILABLE {3}READY {3}TOTAL {3}AGE\nweb {4}3 {9}2 {9}2 {15}1 {19}3 {7}4 {7}\d+s\n$/,
    )
    expect(await ok('get cloneset web -o wide')).toMatch(/AGE {3}CONTAINERS {3}IMAGES {3}SELECTOR\nweb .*s {4}main {9}app:1 {4}app=web\n$/)
    expect(await ok('get all')).not.toContain('cloneset')
  })

  it('explains it, in either version', async () => {
    expect(await ok('explain clone')).toMatch(/^GROUP: {6}apps.kruise.io\nKIND: {7}CloneSet\nVERSION: {4}v1beta1\n/)
    expect(await ok('explain clone.spec.progressDeadlineSeconds')).toContain('Defaults to 600')
    expect(await ok('explain clone.spec.updateStrategy.rollingUpdate.podUpdatePolicy')).toContain('InPlaceIfPossible')
    expect(await ok('explain clone.spec.updateStrategy.type --api-version=apps.kruise.io/v1alpha1')).toContain('Defaults to ReCreate.')
    expect(await ok('explain clone.spec.template.spec.containers')).toContain('FIELD: containers <[]Container>')
  })

  it('scales it', async () => {
    expect(await ok('scale clone web --replicas=6')).toBe('cloneset.apps.kruise.io/web scaled\n')
    expect(await ok('scale clone web --current-replicas=6 --replicas=5')).toBe('cloneset.apps.kruise.io/web scaled\n')
    expect(await read('clone/web', '{.spec.replicas} {.metadata.generation}')).toBe('5 3')
    expect(await ok('autoscale clone web --min=1 --max=9')).toBe('horizontalpodautoscaler.autoscaling/web autoscaled\n')
    expect(await read('hpa/web', '{.spec.scaleTargetRef.kind}')).toBe('CloneSet')
  })

  it('moves a partition, in the words of either version', async () => {
    const patch = (updateStrategy: object, reference = 'clone/web') => ok(`patch ${reference} --type=merge -p '${JSON.stringify({ spec: { updateStrategy } })}'`)
    const partition = () => read(inV1alpha1('web'), '{.spec.updateStrategy.partition}')
    await patch({ partition: '80%' }, inV1alpha1('web'))
    expect(await partition()).toBe('80%')
    await patch({ rollingUpdate: { partition: '50%' } })
    expect(await partition()).toBe('50%')
    await patch({ partition: 0 })
    expect(await partition()).toBe('0')
    expect(await read('clone/web', '{.spec.updateStrategy.rollingUpdate.partition}{.spec.updateStrategy.partition}')).toBe('0')
  })

  it('patches a container by its name', async () => {
    const containers = [{ name: 'main', image: 'app:2' }]
    await ok(`patch clone web -p '${JSON.stringify({ spec: { template: { spec: { containers } } } })}'`)
    expect(await read('clone/web', '{.spec.template.spec.containers[*].image} {.spec.template.spec.containers[*].imagePullPolicy}')).toBe('app:2 IfNotPresent')
  })

  it('says what cannot be changed', async () => {
    expect(await cluster.kubectl.refused(`patch clone web --type=merge -p '{"spec":{"progressDeadlineSeconds":5,"minReadySeconds":5}}'`)).toBe(
      'The CloneSet "web" is invalid: spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds\n',
    )
    expect(await cluster.kubectl.refused(`patch clone web --type=json -p '[{"op":"add","path":"/spec/selector/matchLabels/x","value":"y"}]'`)).toContain(
      'spec: Forbidden: updates to cloneset spec for fields other than',
    )
    expect(await cluster.kubectl.refused('apply -f -', manifest('bad', { updateStrategy: { rolling: {} } }))).toContain('unknown field "spec.updateStrategy.rolling"')
  })

  it('edits it, and tells of a conflict', async () => {
    const editor = (script: string) => ({ EDITOR: cluster.kubectl.file('edit.sh', `#!/bin/sh\n${script}\n`, 0o755) })
    expect(await ok('edit clone web', '', editor(`sed -i 's/podUpdatePolicy: ReCreate/podUpdatePolicy: InPlaceIfPossible/' "$1"`))).toBe('cloneset.apps.kruise.io/web edited\n')
    expect(await read(inV1alpha1('web'), '{.spec.updateStrategy.type}')).toBe('InPlaceIfPossible')
    const stale = await ok('get clone web -o json')
    await ok('scale clone web --replicas=2')
    expect(await cluster.kubectl.refused('replace -f -', stale)).toContain('the object has been modified; please apply your changes to the latest version and try again')
  })

  it('waits for a condition', async () => {
    const conditions = [{ type: 'Progressing', status: 'True', reason: 'CloneSetUpdated' }]
    await ok(`patch clone web --subresource=status --type=merge -p '${JSON.stringify({ status: { conditions } })}'`)
    expect(await ok('wait --for=condition=Progressing clone/web --timeout=60s')).toBe('cloneset.apps.kruise.io/web condition met\n')
  })
})
