import { readFileSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { componentNames, objectsOf } from '../../../src/cluster/manifests/index.ts'
import { deployFiles } from '../../../src/cluster/manifests/deploy-files.ts'

const root = path.resolve('deploy')
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

const filesBelow = (folder: string): string[] =>
  readdirSync(path.join(root, folder)).flatMap((name) => {
    const file = path.join(folder, name)
    return statSync(path.join(root, file)).isDirectory() ? filesBelow(file) : [file]
  })

const objectsIn = (text: string): any[] => parseAllDocuments(text).map((document) => document.toJS() as unknown).filter((object) => object)

/** Renders a template of the chart: values, the release's namespace, and conditions that stand on lines of their own. */
function render(text: string, values: Record<string, any>, namespace: string): string {
  const valueOf = (name: string) => name.split('.').reduce<any>((value, key) => value?.[key], values)
  const isOn = (condition: string) => condition.replace(/^and /, '').split(' ').every((name) => valueOf(name.replace('.Values.', '')))
  const [, condition, body = text] = /^\{\{- if (.*) \}\}\n([^]*)\{\{- end \}\}\n$/.exec(text) ?? []
  if (condition !== undefined && !isOn(condition)) return ''
  const lists = body.replaceAll(/\{\{ \.Values\.(\w+) \| toJson \}\}/g, (_, name: string) => JSON.stringify(valueOf(name)))
  const filled = lists.replaceAll('{{ .Release.Namespace }}', namespace).replaceAll(/\{\{ \.Values\.([A-Za-z.]+) \}\}/g, (_, name: string) => String(valueOf(name)))
  expect(filled).not.toContain('{{')
  return filled
}

describe('deploy/', () => {
  it('is what the manifests say, at the version of the package', () => {
    const wanted = deployFiles(version)
    expect([...filesBelow('kustomize'), ...filesBelow('helm')].sort()).toEqual([...wanted.keys()].sort())
    for (const [file, text] of wanted) expect(readFileSync(path.join(root, file), 'utf8'), `${file}: run npm run write:deploy`).toBe(text)
  })

  it('has a chart whose output is that of coxswain manifests', () => {
    const values = objectsIn(readFileSync(path.join(root, 'helm/coxswain/values.yaml'), 'utf8'))[0]
    const templates = filesBelow('helm/coxswain/templates').map((file) => readFileSync(path.join(root, file), 'utf8'))
    const rendered = (over: object, namespace: string) => templates.flatMap((text) => objectsIn(render(text, { ...values, ...over }, namespace)))
    const byKind = (objects: any[]) => objects.map((object) => `${object.kind} ${object.metadata.name}: ${JSON.stringify(object)}`).sort()
    const settings = { namespace: 'here', image: values.image as string, replicas: () => 2 }
    expect(byKind(rendered({}, 'here'))).toEqual(byKind(objectsOf(['definitions', 'publisher'], settings, false)))
    const all = Object.fromEntries([...componentNames.map((name) => [name, { ...values[name], enabled: true }]), ['serviceMonitors', { enabled: true }]])
    expect(byKind(rendered(all, 'here'))).toEqual(byKind(objectsOf(['definitions', ...componentNames], settings, true)))
  })

  it('lets parts connect to the ports of the API server that are asked for', () => {
    const settings = { namespace: 'here', image: 'i', replicas: () => 2, apiServerPorts: [8443] }
    const policies = (objectsOf(componentNames, settings, false) as any[]).filter(({ kind }) => kind === 'NetworkPolicy')
    expect(policies.map(({ spec }) => spec.egress)).toEqual(componentNames.map(() => [{ ports: [{ protocol: 'TCP', port: 8443 }] }]))
    const text = readFileSync(path.join(root, 'helm/coxswain/templates/publisher.yaml'), 'utf8')
    const values = objectsIn(readFileSync(path.join(root, 'helm/coxswain/values.yaml'), 'utf8'))[0]
    const [policy] = objectsIn(render(text, { ...values, apiServerPorts: policies[0].spec.egress[0].ports }, 'here')).filter(({ kind }) => kind === 'NetworkPolicy')
    expect(policy.spec.egress).toEqual(policies[0].spec.egress)
  })

  it('runs nothing as root, and nothing that a restricted namespace refuses', () => {
    const settings = { namespace: 'here', image: 'i', replicas: () => 2 }
    for (const { kind, spec } of objectsOf(componentNames, settings, false) as any[]) {
      if (kind !== 'Deployment') continue
      const { securityContext, containers: [container] } = spec.template.spec
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
    }
  })

  it('has an image that takes from this machine only what is in the repository', () => {
    const lines = (file: string) => readFileSync(file, 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    // `COPY . .` comes after `npm ci`.
    expect(lines(path.join(root, 'Dockerfile'))).toContain('COPY . .')
    const ignored = lines('.gitignore').map((name) => name.replace(/\/$/, ''))
    expect(lines('.dockerignore')).toEqual(expect.arrayContaining(['.git', ...ignored]))
  })

  it('has a unit of systemd whose instances share no directory: each has another user', () => {
    const unit = readFileSync(path.join(root, 'systemd/coxswain@.service'), 'utf8')
    expect(unit).toContain('DynamicUser=yes')
    const directories = unit.split('\n').filter((line) => /^\w+Directory=/.test(line))
    expect(directories).toEqual(['StateDirectory=coxswain/%i', 'WorkingDirectory=%S/coxswain/%i'])
  })
})
