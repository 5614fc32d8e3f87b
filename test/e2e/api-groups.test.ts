import { describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { oneOfEachKind } from '../kubectl/one-of-each-kind.ts'

const cluster = useCluster()

const groups = [
  'admissionregistration.k8s.io',
  'apiregistration.k8s.io',
  'certificates.k8s.io',
  'flowcontrol.apiserver.k8s.io',
]
const samples = oneOfEachKind.filter(({ apiVersion = '' }) => groups.includes(apiVersion.split('/')[0]!))
const rowOf = (table: string, name: string) =>
  table.split('\n').find((line) => line.startsWith(name))?.replace(/ +/g, ' ').trim()

/** The row of each kind in `kubectl get`, but for its age. */
const rows: Record<string, RegExp> = {
  APIService: /^v1\.example\.com default\/api False \(ServiceNotFound\) \d+s$/,
  CertificateSigningRequest: /^sample \d+s example\.com\/signer kubernetes-admin <none> Pending$/,
  FlowSchema: /^sample workload-low 1000 <none> \d+s \?$/,
  MutatingAdmissionPolicy: /^sample 1 <unset> \d+s$/,
  MutatingAdmissionPolicyBinding: /^sample sample <unset> \d+s$/,
  MutatingWebhookConfiguration: /^sample 1 \d+s$/,
  PriorityLevelConfiguration: /^sample Limited 7 <none> <none> <none> \d+s$/,
  ValidatingAdmissionPolicy: /^sample 1 <unset> \d+s$/,
  ValidatingAdmissionPolicyBinding: /^sample sample <unset> \d+s$/,
  ValidatingWebhookConfiguration: /^sample 1 \d+s$/,
}

describe('kubectl makes, shows, explains, labels, applies and deletes', () => {
  it.each(samples.map((object) => [object.kind!, object] as const))('%s', async (kind, object) => {
    const { kubectl } = cluster
    const name = object.metadata.name!
    const [group] = object.apiVersion!.split('/')
    const plain = `${kind.toLowerCase()}.${group}`
    const made = await kubectl.ok('create -f -', JSON.stringify(object))
    expect(made).toBe(`${plain}/${name} created\n`)
    expect(rowOf(await kubectl.ok(`get ${plain}`), name)).toMatch(rows[kind]!)
    expect(await kubectl.ok(`explain ${kind.toLowerCase()}`)).toContain(`KIND:       ${kind}\n`)
    expect(await kubectl.ok(`label ${plain} ${name} a=b`)).toBe(`${plain}/${name} labeled\n`)
    expect(await kubectl.ok('apply -f -', JSON.stringify(object))).toBe(`${plain}/${name} configured\n`)
    expect(await kubectl.ok(`delete ${plain} ${name}`)).toBe(`${plain} "${name}" deleted\n`)
    expect(await kubectl.refused(`get ${plain} ${name}`)).toContain('NotFound')
  })
})

describe('objects that every cluster has', () => {
  it('are API services of what is served', async () => {
    const table = await cluster.kubectl.ok('get apiservices')
    expect(rowOf(table, 'v1.apps ')).toMatch(/^v1\.apps Local True \d+s$/)
    expect(rowOf(table, 'v2.autoscaling')).toMatch(/^v2\.autoscaling Local True \d+s$/)
  })

  it('are flow schemas, in the order of their precedence, and levels', async () => {
    const table = await cluster.kubectl.ok('get flowschemas --no-headers')
    const names = table.trim().split('\n').map((row) => row.split(' ')[0])
    expect([names[0], names[1], names.at(-1)]).toEqual(['exempt', 'probes', 'catch-all'])
    const levels = await cluster.kubectl.ok('get prioritylevelconfigurations')
    expect(rowOf(levels, 'system')).toMatch(/^system Limited 30 64 6 50 \d+s$/)
    const patch = JSON.stringify({ spec: { rules: [] } })
    const refused = await cluster.kubectl.refused(`patch flowschema exempt --type=merge -p '${patch}'`)
    expect(refused).toContain("spec of 'exempt' must equal the fixed value")
  })
})
