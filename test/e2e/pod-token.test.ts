import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const cluster = useEverything(['--runtime', 'simulated', '--node-name', 'n1'])
const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-pod-token-'))
const account = 'system:serviceaccount:blue:worker'
const refusal = (what: string) => `Error from server (Forbidden): ${what}`

/** A kubectl that knows where the server is, and nothing else than the token of the pod. */
let asPod: (line: string) => ReturnType<Kubectl['run']>
let nobody: Kubectl

interface UserInfo {
  username: string
  groups: string[]
  extra: Record<string, string[]>
}

const manifest = (name: string) => `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, namespace: blue},
  spec: {serviceAccountName: worker, terminationGracePeriodSeconds: 0, containers: [{name: app, image: nginx}]}}`

beforeAll(async () => {
  const { kubectl } = cluster
  for (const namespace of ['blue', 'red']) await kubectl.ok(`create namespace ${namespace}`)
  await kubectl.ok('-n blue create serviceaccount worker')
  await kubectl.ok('-n blue create role worker --verb=get,list --resource=configmaps')
  await kubectl.ok('-n blue create rolebinding worker --role=worker --serviceaccount=blue:worker')
  writeFileSync(path.join(dir, 'pod.yaml'), manifest('app'))
  await kubectl.ok(`apply -f ${path.join(dir, 'pod.yaml')}`)
  await kubectl.ok('-n blue wait pod/app --for=condition=Ready --timeout=60s')
  const uid = await kubectl.ok('-n blue get pod app -o jsonpath={.metadata.uid}')
  const bound = `--bound-object-kind Pod --bound-object-name app --bound-object-uid ${uid}`
  const token = (await kubectl.ok(`-n blue create token worker ${bound}`)).trim()
  const config = path.join(dir, 'kubeconfig')
  const text = readFileSync(cluster.server.kubeconfig, 'utf8')
  writeFileSync(config, text.replace(/ {2}user:\n( {4}.*\n)+/, `  user: { token: ${token} }\n`), { mode: 0o600 })
  nobody = new Kubectl(config)
  asPod = (line) => nobody.run(line)
}, 60_000)

afterAll(() => {
  nobody?.remove()
  rmSync(dir, { recursive: true })
})

describe('a simulated pod with its own token', () => {
  it('is its account, its pod and its node', async () => {
    const { out } = await asPod('auth whoami -o json')
    const { userInfo } = (JSON.parse(out) as { status: { userInfo: UserInfo } }).status
    expect(userInfo.username).toBe(account)
    expect(userInfo.groups).toEqual(['system:serviceaccounts', 'system:serviceaccounts:blue', 'system:authenticated'])
    expect(userInfo.extra).toMatchObject({
      'authentication.kubernetes.io/pod-name': ['app'],
      'authentication.kubernetes.io/node-name': ['n1'],
    })
  })

  it.each([
    '-n blue get configmap kube-root-ca.crt -o name',
    '-n blue get configmaps -o name',
  ])('may %s', async (line) => {
    expect(await asPod(line)).toMatchObject({ code: 0, out: 'configmap/kube-root-ca.crt\n' })
  })

  const cannot = (verb: string, what: string, where: string) =>
    `User "${account}" cannot ${verb} resource "${what}" in API group "" ${where}`
  it.each([
    ['-n blue get secrets', `secrets is forbidden: ${cannot('list', 'secrets', 'in the namespace "blue"')}`],
    ['-n blue get pod app', `pods "app" is forbidden: ${cannot('get', 'pods', 'in the namespace "blue"')}`],
    ['-n blue delete configmap kube-root-ca.crt',
      `configmaps "kube-root-ca.crt" is forbidden: ${cannot('delete', 'configmaps', 'in the namespace "blue"')}`],
    ['-n red get configmaps', `configmaps is forbidden: ${cannot('list', 'configmaps', 'in the namespace "red"')}`],
    ['get nodes', `nodes is forbidden: ${cannot('list', 'nodes', 'at the cluster scope')}`],
  ])('may not %s', async (line, message) => {
    const { code, err } = await asPod(line)
    expect({ code, err: err.trim() }).toEqual({ code: 1, err: refusal(message) })
  })

  it('is nobody any more once the pod is gone, even if another has its name', async () => {
    await cluster.kubectl.ok('-n blue delete pod app --wait --timeout=60s')
    const refused = async () => (await asPod('-n blue get configmaps')).err.trim().split('\n').at(-1)
    expect(await refused()).toBe('error: You must be logged in to the server (Unauthorized)')
    await cluster.kubectl.ok(`apply -f ${path.join(dir, 'pod.yaml')}`)
    expect(await refused()).toBe('error: You must be logged in to the server (Unauthorized)')
  })
})
