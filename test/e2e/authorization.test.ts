import { beforeAll, describe, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'

const cluster = useEverything(['--runtime', 'simulated', '--node-name', 'n1'])

beforeAll(async () => {
  const { kubectl } = cluster
  for (const namespace of ['blue', 'red']) await kubectl.ok(`create namespace ${namespace}`)
  await kubectl.ok('-n blue create rolebinding ann --clusterrole=admin --user=ann')
  await kubectl.ok('-n red create rolebinding bob --clusterrole=edit --user=bob')
  await kubectl.ok('-n blue create rolebinding vi --clusterrole=view --user=vi')
  // The roles for people are made of others by a controller.
  await kubectl.ok("wait clusterrole/admin --for=jsonpath='{.rules[0].verbs[0]}' --timeout=60s")
}, 60_000)

/** `resources (names) verbs` of every line that `auth can-i --list` prints, without those that every user has. */
async function listOf(flags: string): Promise<string[]> {
  const out = await cluster.kubectl.ok(`auth can-i --list ${flags}`)
  const lines = out.trim().split('\n').slice(1).map((line) => line.trim().replaceAll(/\s+/g, ' '))
  return lines.filter((line) => !/^selfsubject|^\[\/(api|apis|healthz|livez|openapi|readyz|version)/.test(line)).sort()
}

describe('kubectl auth can-i --list', () => {
  it('of an admin of the cluster', async () => {
    expect(await listOf('')).toEqual(['*.* [] [] [*]', '[*] [] [*]'])
  })

  it('of somebody who has no role', async () => {
    expect(await listOf('--as=stranger')).toEqual([])
    const all = await cluster.kubectl.ok('auth can-i --list --as=stranger')
    expect(all).toContain('selfsubjectaccessreviews.authorization.k8s.io')
    expect(all).toMatch(/\[\/livez\] +\[\] +\[get\]/)
  })

  it('of a viewer in the namespace, and nowhere else', async () => {
    const lines = await listOf('-n blue --as=vi')
    for (const line of ['pods [] [] [get list watch]', 'pods/log [] [] [get list watch]', 'deployments.apps [] [] [get list watch]', 'clonesets.apps.kruise.io [] [] [get list watch]']) {
      expect(lines).toContain(line)
    }
    expect(lines.filter((line) => /secrets|create|delete|update/.test(line))).toEqual([])
    expect(await listOf('-n red --as=vi')).toEqual([])
  })

  it('of the scheduler', async () => {
    const lines = await listOf('--as=system:kube-scheduler')
    for (const line of ['pods/binding [] [] [create]', 'pods [] [] [delete get list watch]', 'nodes [] [] [get list watch]']) expect(lines).toContain(line)
    expect(lines.filter((line) => line.startsWith('secrets'))).toEqual([])
  })

  it('of the controller of deployments', async () => {
    const lines = await listOf('--as=system:serviceaccount:kube-system:deployment-controller')
    for (const line of ['replicasets.apps [] [] [create delete get list patch update watch]', 'deployments.apps/status [] [] [update]', 'pods [] [] [get list update watch]']) {
      expect(lines).toContain(line)
    }
  })

  it('of a node says that it is not all', async () => {
    const { err } = await cluster.kubectl.run('auth can-i --list --as=system:node:n1 --as-group=system:nodes')
    expect(err).toContain('Warning: the list may be incomplete: node authorizer does not support user rule resolution')
  })
})

describe('two tenants', () => {
  it.each([
    ['-n blue --as=ann create deployment web --image=nginx', 'deployment.apps/web created\n'],
    ['-n blue --as=ann get secrets -o name', ''],
    ['-n red --as=bob create configmap mine', 'configmap/mine created\n'],
    ['-n blue --as=ann create rolebinding joe --clusterrole=view --user=joe', 'rolebinding.rbac.authorization.k8s.io/joe created\n'],
  ])('may: %s', async (line, out) => expect(await cluster.kubectl.ok(line)).toBe(out))

  it.each([
    ['-n red --as=ann get pods', 'pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "red"'],
    ['-n blue --as=bob get pods', 'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "blue"'],
    ['--as=ann get pods -A', 'pods is forbidden: User "ann" cannot list resource "pods" in API group "" at the cluster scope'],
    ['--as=ann get nodes', 'nodes is forbidden: User "ann" cannot list resource "nodes" in API group "" at the cluster scope'],
    ['-n blue --as=vi delete deployment web', 'deployments.apps "web" is forbidden: User "vi" cannot delete resource "deployments" in API group "apps" in the namespace "blue"'],
    ['-n blue --as=vi scale deployment web --replicas=3', 'deployments.apps "web" is forbidden: User "vi" cannot patch resource "deployments/scale" in API group "apps" in the namespace "blue"'],
  ])('may not: %s', async (line, message) => expect(await cluster.kubectl.refused(line)).toContain(message))

  it('may give no more than they have', async () => {
    const refused = await cluster.kubectl.refused('-n blue --as=ann create role nodes --verb=get --resource=nodes')
    expect(refused).toContain('is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}')
  })

  it('may not act as somebody else', async () => {
    expect(await cluster.kubectl.run('auth can-i impersonate users --as=ann -n blue')).toMatchObject({ out: 'no\n' })
    expect(await cluster.kubectl.run('auth can-i impersonate serviceaccounts --as=ann -n blue')).toMatchObject({ out: 'yes\n' })
  })
})

it('kubectl auth reconcile makes a role what a file says', async () => {
  const { kubectl } = cluster
  const role = (verbs: string) => `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: reader, namespace: blue }\nrules:\n- { apiGroups: [""], resources: [pods], verbs: [${verbs}] }\n`
  kubectl.file('role.yaml', role('get'))
  expect(await kubectl.ok('auth reconcile -f role.yaml')).toContain('role.rbac.authorization.k8s.io/reader reconciled')
  kubectl.file('role.yaml', role('get, list'))
  await kubectl.ok('auth reconcile -f role.yaml')
  const rules = JSON.parse(await kubectl.ok('get role reader -n blue -o json')) as { rules: { verbs: string[] }[] }
  expect(new Set(rules.rules.flatMap(({ verbs }) => verbs))).toEqual(new Set(['get', 'list']))
})

it('everything that runs in the process still does its work', async () => {
  await cluster.kubectl.ok('-n blue wait --for=condition=Available deployment/web --timeout=60s')
  const metrics = await cluster.kubectl.ok('get --raw /metrics')
  expect(metrics).toMatch(/authorization_attempts_total\{result="allowed"\} \d+/)
})
