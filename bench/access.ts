// Measures the cost of authorization and audit: creates with Node,RBAC and an audit log of metadata, alternating with
// creates with AlwaysAllow and no log. Prints one JSON line for each round and each median.
//
// The writer is an ordinary user with a RoleBinding to create pods; a member of system:masters would be waved
// through.
//   --rounds N         rounds, each of both servers (7)
//   --creates N        measured creates of each (6000)
//   --program FILE     a program to run with node instead of bin/coxswain
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { http1Client } from './load/client.ts'
import { clients, createPods, makeNamespace, must } from './load/figures.ts'
import { inParallel, quantile, rounded, spend } from './load/measure.ts'
import { cpuSeconds, startServer } from './load/server.ts'
import { readTarget } from './load/target.ts'

const { values: args } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    creates: { type: 'string', default: '6000' },
    program: { type: 'string', default: path.resolve('bin/coxswain') },
  },
})
const rounds = Number(args.rounds)
const creates = Number(args.creates)
const warmUp = 2000
const namespace = 'bench'
const token = 'bench-token'

const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-access-'))
const file = (name: string, text: string): string => {
  writeFileSync(path.join(dir, name), text, { mode: 0o600 })
  return path.join(dir, name)
}
const tokens = file('tokens.csv', `${token},writer,1000,"team"\n`)
const policy = file('policy.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n')

const auditLog = path.join(dir, 'audit.log')

const sides = {
  open: ['--authorization-mode=AlwaysAllow'],
  rbac: ['--authorization-mode=Node,RBAC'],
  guarded: ['--authorization-mode=Node,RBAC', `--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`],
} as const
type Side = keyof typeof sides

const apiGroup = 'rbac.authorization.k8s.io'
const rule = { apiGroups: [''], resources: ['pods', 'configmaps'], verbs: ['create', 'get', 'list'] }
const role = { metadata: { name: 'writer' }, rules: [rule] }
const binding = {
  metadata: role.metadata,
  subjects: [{ kind: 'Group', apiGroup, name: 'team' }],
  roleRef: { apiGroup, kind: 'Role', name: 'writer' },
}

interface Figures {
  perSecond: number
  micros: number
}

async function measure(side: Side): Promise<Figures> {
  const server = await startServer(args.program, [], [...sides[side], `--token-auth-file=${tokens}`])
  try {
    const target = readTarget(server.kubeconfig)
    const admin = http1Client(target, 1)
    await makeNamespace(admin, namespace)
    const rbac = (plural: string) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${plural}`
    await must(admin, 201, 'POST', rbac('roles'), JSON.stringify(role))
    await must(admin, 201, 'POST', rbac('rolebindings'), JSON.stringify(binding))
    admin.close()
    const tls = { ca: target.tls.ca, rejectUnauthorized: true }
    const headers = { ...target.headers, authorization: `Bearer ${token}` }
    const writer = http1Client({ ...target, tls, headers }, clients)
    await inParallel(warmUp, clients, createPods(writer, namespace, 0))
    const load = () => inParallel(creates, clients, createPods(writer, namespace, warmUp))
    const spent = await spend(creates, () => cpuSeconds(server.pid), load)
    writer.close()
    return { perSecond: creates / spent.seconds, micros: spent.serverMicros ?? 0 }
  } finally {
    await server.stop()
    if (side === 'guarded') checkLog()
  }
}

/** Both stages of every create are recorded, or the figure says nothing. The log is new for each server. */
function checkLog(): void {
  const made = readFileSync(auditLog, 'utf8').split('\n').filter((line) => line.includes('"username":"writer"')).length
  if (made < 2 * (warmUp + creates)) throw new Error(`the audit log has only ${made} events`)
  rmSync(auditLog)
}

const report = (figure: string, value: number, unit: string, detail: object = {}) =>
  console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))

const seen: Record<Side, Figures[]> = { open: [], rbac: [], guarded: [] }
const names = Object.keys(sides) as Side[]
try {
  for (let round = 0; round < rounds; round++) {
    // Each side is the first in its turn: whoever comes first finds another machine than whoever comes last.
    for (let turn = 0; turn < names.length; turn++) {
      const side = names[(round + turn) % names.length]!
      const figures = await measure(side)
      seen[side].push(figures)
      report(`round ${round + 1}, ${side}`, figures.perSecond, '1/s', { serverCpuMicros: rounded(figures.micros) })
    }
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}
/** The median of one figure, and of its ratio to the open server of the same round. */
function reportMedian(side: Side, figure: string, unit: string, of: (figures: Figures) => number): void {
  const ratios = seen[side].map((figures, index) => of(figures) / of(seen.open[index]!))
  report(`${side}: ${figure}`, quantile(seen[side].map(of), 0.5), unit, { ratio: rounded(quantile(ratios, 0.5)) })
}
for (const side of names) {
  reportMedian(side, 'creates', '1/s', ({ perSecond }) => perSecond)
  reportMedian(side, 'CPU per create', 'µs', ({ micros }) => micros)
}
