import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const chart = path.resolve(import.meta.dirname, '../fixtures/charts/shop')
const cluster = useEverything(['--runtime', 'simulated', '--nodes', '2', '--dashboard', 'false'])
let helm: Kubectl
beforeAll(() => {
  helm = new Kubectl(cluster.server.kubeconfig, 'helm')
})
afterAll(() => helm?.remove())

const waits = '--wait --timeout 60s'
const kinds = 'all,boats,ingress,pdb,hpa,networkpolicy,role,rolebinding,sa,cm,secret'
const owned = (release: string) => cluster.kubectl.ok(`get ${kinds} -l app.kubernetes.io/instance=${release} -o name`)
const value = (reference: string, at: string) => cluster.kubectl.ok(`get ${reference} -o jsonpath='{${at}}'`)
const image = (release: string) => value(`deployment/${release}-web`, '.spec.template.spec.containers[0].image')
const managers = async (reference: string) =>
  (await cluster.kubectl.ok(`get ${reference} --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.manager}/{.operation} {end}'`)).trim().split(' ')
const list = async (): Promise<{ name: string; revision: string; status: string }[]> => JSON.parse(await helm.ok('list -A -o json')) as never
const statuses = async (release: string) =>
  (JSON.parse(await helm.ok(`history ${release} -o json`)) as { status: string }[]).map(({ status }) => status)

describe('a release by server-side apply', () => {
  it('is installed: definitions first, hooks, and everything is ready when helm returns', async () => {
    expect(await helm.ok(`install one ${chart} ${waits}`)).toContain('STATUS: deployed')
    expect(await cluster.kubectl.ok('get deployment,statefulset,daemonset,job --no-headers -o custom-columns=N:.metadata.name,R:.status.readyReplicas,D:.status.numberReady,S:.status.succeeded'))
      .toMatch(/^one-web +2 +<none> +<none>\none-db +2 +<none> +<none>\none-agent +<none> +2 +<none>\none-migrate +<none> +<none> +1\n$/)
    expect(await cluster.kubectl.ok('get boats one --no-headers')).toMatch(/^one +2\n$/)
    expect(await managers('boat/one')).toEqual(['helm/Apply'])
    expect(await managers('configmap/one-config')).toEqual(['helm/Apply'])
    expect((await owned('one')).trim().split('\n')).toHaveLength(19)
  }, 120_000)

  it('knows what the server serves: the definition of its own chart, and the version', async () => {
    const data = JSON.parse(await value('configmap/one-config', '.data')) as object
    expect(data).toEqual({ color: 'blue', boats: 'true', boatKind: 'true', disruption: 'true', kube: '36' })
  })

  it('is told by status, list, get and history', async () => {
    expect(await list()).toEqual([expect.objectContaining({ name: 'one', revision: '1', status: 'deployed', chart: 'shop-1.0.0' })])
    expect(await helm.ok('status one')).toMatch(/==> v1\/Deployment\nNAME +READY +UP-TO-DATE +AVAILABLE +AGE\none-web +2\/2 +2 +2 /)
    expect((await helm.ok('get manifest one')).match(/^kind: /gm)).toHaveLength(17)
    expect((await helm.ok('get hooks one')).match(/^kind: /gm)).toHaveLength(3)
    expect(await helm.ok('get notes one')).toContain('one is blue.')
    expect(await helm.ok('get values one --all')).toContain('color: blue')
  })

  it('passes its test', async () => {
    expect(await helm.ok('test one --logs --timeout 60s')).toMatch(/TEST SUITE: +one-test\n[^]*Phase: +Succeeded\n/)
  }, 120_000)

  it('is not upgraded over somebody else’s change, unless it is forced', async () => {
    const password = await value('secret/one-password', '.data.password')
    await cluster.kubectl.ok(`patch deployment one-web --field-manager=kubectl-edit -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"edited"}]}}}}'`)
    const refused = await helm.refused(`upgrade one ${chart} --set image=nginx:2 ${waits}`)
    expect(refused).toContain('Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1: .spec.template.spec.containers[name="web"].image')
    expect(await image('one')).toBe('edited')
    await helm.ok(`upgrade one ${chart} --set image=nginx:2,color=red --force-conflicts ${waits}`)
    expect([await image('one'), await value('boat/one', '.spec.color')]).toEqual(['nginx:2', 'red'])
    // The chart has looked the Secret up, and kept its random password.
    expect(await value('secret/one-password', '.data.password')).toBe(password)
    expect(await statuses('one')).toEqual(['superseded', 'failed', 'deployed'])
  }, 120_000)

  it('takes away what the new revision does not have', async () => {
    await helm.ok(`upgrade one ${chart} --set ingress.enabled=false ${waits}`)
    expect(await owned('one')).not.toContain('ingress.')
  }, 120_000)

  it('is rolled back', async () => {
    expect(await helm.ok(`rollback one 1 ${waits}`)).toContain('Rollback was a success')
    expect([await image('one'), await value('boat/one', '.spec.color')]).toEqual(['nginx', 'blue'])
    expect(await owned('one')).toContain('ingress.networking.k8s.io/one-web')
  }, 120_000)

  it('fails with its hook, and goes back by itself where that is asked for', async () => {
    const failed = await helm.refused(`upgrade one ${chart} --set failMigration=true,color=green --rollback-on-failure --timeout 60s`)
    expect(failed).toContain('release one failed, and has been rolled back due to rollback-on-failure being set: pre-upgrade hooks failed')
    expect((await statuses('one')).slice(-2)).toEqual(['failed', 'deployed'])
    expect(await value('boat/one', '.spec.color')).toBe('blue')
  }, 120_000)

  it('is refused by the schema of its own definition', async () => {
    expect(await helm.refused(`upgrade one ${chart} --set color=7 --timeout 60s`)).toMatch(/spec\.color: Invalid value: "integer": spec\.color in body must be of type string: "integer"|\.data\.color: expected string/)
    expect((await statuses('one')).at(-1)).toBe('failed')
  }, 120_000)

  it('is upgraded by the client’s own patches and replaces, and by apply again', async () => {
    await helm.ok(`upgrade one ${chart} --set color=green --server-side=false --wait=legacy --timeout 60s`)
    await helm.ok(`upgrade one ${chart} --set color=yellow --server-side=false --force-replace --timeout 60s`)
    expect(await value('boat/one', '.spec.color')).toBe('yellow')
    await helm.ok(`upgrade one ${chart} --set color=grey --server-side=true --wait-for-jobs ${waits}`)
    expect([await value('boat/one', '.spec.color'), (await list())[0]!.status]).toEqual(['grey', 'deployed'])
  }, 120_000)

  it('is uninstalled: nothing is left but its definition, its hooks and what these made', async () => {
    await helm.ok(`uninstall one ${waits}`)
    await expect.poll(() => owned('one'), { timeout: 40_000 }).toBe('')
    expect(await list()).toEqual([])
    expect(await cluster.kubectl.ok('get secrets -o name')).toBe('')
    expect(await cluster.kubectl.ok('get configmap one-removed -o name')).toBe('configmap/one-removed\n')
    expect(await cluster.kubectl.ok('get crd boats.shop.example.com -o name')).toContain('boats.shop.example.com')
  }, 120_000)
})

describe('a chart', () => {
  it('runs dry with what the server serves', async () => {
    expect(await helm.ok(`install two ${chart} --dry-run=server`)).toContain('boats: "true"')
    expect(await owned('two')).toBe('')
  })

  it('is applied by kubectl, both ways, and deleted', async () => {
    const manifests = await helm.ok(`template three ${chart} --no-hooks`)
    for (const flags of ['', '--server-side --force-conflicts']) {
      expect((await cluster.kubectl.ok(`apply ${flags} -f -`, manifests)).trim().split('\n')).toHaveLength(17)
    }
    await cluster.kubectl.ok('wait --for=condition=Available deployment/three-web --timeout=60s')
    await cluster.kubectl.ok('delete --timeout=60s -f -', manifests)
    await expect.poll(() => owned('three'), { timeout: 40_000 }).toBe('')
  }, 120_000)

  it('takes over objects that others have made', async () => {
    await cluster.kubectl.ok('create configmap four-config --from-literal=color=mine')
    expect(await helm.refused(`install four ${chart} --timeout 60s`)).toContain('cannot be imported into the current release: invalid ownership metadata')
    await helm.ok(`install four ${chart} --take-ownership --force-conflicts ${waits}`)
    expect(await value('configmap/four-config', '.data.color')).toBe('blue')
    await helm.ok(`uninstall four ${waits}`)
  }, 120_000)
})
