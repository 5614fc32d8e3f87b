import { describe, expect, it } from 'vitest'
import { definition, instance, publicKinds, version } from '../integration/public-kinds.ts'
import { useCluster } from '../kubectl/cluster.ts'

const cluster = useCluster()
const { stringify } = JSON

const configMap = (name: string, data: Record<string, string>) => stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
const apply = (object: string, flags = '--server-side') => cluster.kubectl.ok(`apply ${flags} -f -`, object)
const read = (reference: string, path: string) => cluster.kubectl.ok(`get ${reference} -o jsonpath='${path}'`)
const managersOf = (reference: string) => read(reference, '{range .metadata.managedFields[*]}{.manager}/{.operation} {end}')

describe('kubectl apply --server-side', () => {
  it('applies, applies nothing new, and shows managed fields', async () => {
    expect(await apply(configMap('a', { k: '1' }))).toBe('configmap/a serverside-applied\n')
    expect(await apply(configMap('a', { k: '1' }))).toBe('configmap/a serverside-applied\n')
    expect(await cluster.kubectl.ok('get configmap a -o yaml')).not.toContain('managedFields')
    const shown = await cluster.kubectl.ok('get configmap a -o yaml --show-managed-fields')
    expect(shown).toMatch(/managedFields:\n {2}- apiVersion: v1\n {4}fieldsType: FieldsV1\n {4}fieldsV1:\n {6}f:data:\n {8}f:k: \{\}\n {4}manager: kubectl\n {4}operation: Apply/)
  })

  it('is refused for a conflict, says how to go on, and is forced', async () => {
    await apply(configMap('b', { k: '1' }), '--server-side --field-manager=first')
    const refused = await cluster.kubectl.refused('apply --server-side --field-manager=second -f -', configMap('b', { k: '2' }))
    expect(refused).toMatch(/^error: Apply failed with 1 conflict: conflict with "first": \.data\.k\nPlease review the fields above/)
    expect(await apply(configMap('b', { k: '2' }), '--server-side --field-manager=second --force-conflicts')).toBe('configmap/b serverside-applied\n')
    expect(await managersOf('configmap/b')).toBe('second/Apply ')
  })

  it('removes what is applied no more, and leaves what others have', async () => {
    await apply(configMap('c', { mine: '1', gone: '1' }))
    await apply(configMap('c', { theirs: '1' }), '--server-side --field-manager=other')
    await apply(configMap('c', { mine: '1' }))
    expect(await read('configmap/c', '{.data}')).toBe('{"mine":"1","theirs":"1"}')
  })

  it('takes over what was applied on the client’s side', async () => {
    await apply(configMap('d', { k: '1', old: '1' }), '')
    expect(await managersOf('configmap/d')).toBe('kubectl-client-side-apply/Update ')
    expect(await apply(configMap('d', { k: '2' }))).toBe('configmap/d serverside-applied\n')
    expect(await read('configmap/d', '{.data}')).toBe('{"k":"2"}')
    expect(await managersOf('configmap/d')).toContain('kubectl/Apply')
    // Client-side apply goes on from there: its annotation has followed.
    expect(await apply(configMap('d', { k: '3' }), '')).toBe('configmap/d configured\n')
    expect(await read('configmap/d', '{.data}')).toBe('{"k":"3"}')
  })

  it('runs dry on the server, and is shown by diff', async () => {
    await apply(configMap('e', { k: '1' }))
    expect(await apply(configMap('e', { k: '2' }), '--server-side --dry-run=server')).toBe('configmap/e serverside-applied (server dry run)\n')
    expect(await read('configmap/e', '{.data.k}')).toBe('1')
    const { code, out } = await cluster.kubectl.run('diff --server-side -f -', configMap('e', { k: '2' }))
    expect([code, out.split('\n').filter((line) => /^[+-] /.test(line))]).toEqual([1, ['-  k: "1"', '+  k: "2"']])
    expect((await cluster.kubectl.run('diff --server-side -f -', configMap('e', { k: '1' }))).code).toBe(0)
  })
})

describe('kinds of public projects', () => {
  it.each(['HTTPRoute', 'Certificate'])('%s is applied both ways, explained and judged', async (kind) => {
    const { spec, right, wrong } = publicKinds.find((shape) => shape.kind === kind)!
    const plural = `${kind.toLowerCase()}s`
    const columns = [{ name: 'Ready', type: 'string', jsonPath: '.status.ready' }]
    const versions = [version('v1', { ...spec, description: `Spec of ${kind}.` }, { storage: true, additionalPrinterColumns: columns })]
    expect(await apply(stringify(definition(kind, versions)))).toBe(`customresourcedefinition.apiextensions.k8s.io/${plural}.example.com serverside-applied\n`)
    await cluster.kubectl.ok(`wait crd/${plural}.example.com --for condition=Established`)
    expect(await apply(stringify(instance(kind, right, 'one')))).toBe(`${kind.toLowerCase()}.example.com/one serverside-applied\n`)
    expect(await apply(stringify(instance(kind, right, 'two')), '')).toBe(`${kind.toLowerCase()}.example.com/two created\n`)
    // Defaults inside of a list that is one value make it another one for client-side apply, each time.
    const again = kind === 'HTTPRoute' ? 'configured' : 'unchanged'
    expect(await apply(stringify(instance(kind, right, 'two')), '')).toBe(`${kind.toLowerCase()}.example.com/two ${again}\n`)
    expect(await cluster.kubectl.ok(`explain ${plural}.spec`)).toMatch(new RegExp(`KIND: +${kind}\nVERSION: +v1\n\nFIELD: spec <Object>.*\n\n\nDESCRIPTION:\n    Spec of ${kind}\\.\n.*FIELDS:\n`, 's'))
    expect(await cluster.kubectl.ok(`get ${plural}`)).toMatch(/^NAME +READY\none +\ntwo +\n$/)
    const [bad, field] = wrong.at(-1)!
    for (const flags of ['', '--server-side']) {
      expect(await cluster.kubectl.refused(`apply ${flags} --validate=ignore -f -`, stringify(instance(kind, bad, 'bad')))).toContain(field)
    }
    expect(await cluster.kubectl.refused(`apply --server-side -f -`, stringify(instance(kind, { ...right, nosuch: 1 }, 'bad')))).toContain('.spec.nosuch: field not declared in schema')
  })
})

it('kubectl explain tells the fields of embedded resources', async () => {
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }
  const spec = { type: 'object', properties: { template: embedded, manifests: { type: 'array', items: embedded }, named: { type: 'object', additionalProperties: embedded } } }
  await apply(stringify(definition('Bundle', [version('v1', spec, { storage: true })])))
  await cluster.kubectl.ok('wait --for=condition=Established crd/bundles.example.com --timeout=60s')
  for (const field of ['template', 'manifests', 'named']) {
    expect(await cluster.kubectl.ok(`explain bundles.spec.${field}`)).toMatch(/FIELDS:\n {2}apiVersion\t<string>\n[^]*kind\t<string>\n[^]*metadata\t<ObjectMeta>\n/)
    expect(await cluster.kubectl.ok(`explain bundles.spec.${field}.metadata.labels`)).toContain('FIELD: labels <map[string]string>')
  }
})
