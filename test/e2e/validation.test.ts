import { describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'

const cluster = useCluster()

const unknown = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unknown}\ndatta: {a: b}\n'
const duplicate = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"duplicate"},"data":{"a":"b","a":"c"}}'
const nested = `apiVersion: apps/v1
kind: Deployment
metadata: {name: nested}
spec:
  replica: 1
  selector: {matchLabels: {app: nested}}
  template:
    metadata: {labels: {app: nested}}
    spec:
      containers:
      - {name: main, image: nginx, imagePulPolicy: Always}
`
const collection = '/api/v1/namespaces/default/configmaps'

describe('--validate=strict', () => {
  it('refuses an unknown field by its name', async () => {
    cluster.kubectl.file('unknown.yaml', unknown)
    expect(await cluster.kubectl.refused('create -f unknown.yaml --validate=strict')).toBe(
      'Error from server (BadRequest): error when creating "unknown.yaml": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datta"\n',
    )
    expect(await cluster.kubectl.refused('apply -f unknown.yaml')).toBe(
      'Error from server (BadRequest): error when creating "unknown.yaml": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datta"\n',
    )
  })

  it('names every unknown field, wherever it is', async () => {
    cluster.kubectl.file('nested.yaml', nested)
    expect(await cluster.kubectl.refused('create -f nested.yaml --validate=true')).toBe(
      'Error from server (BadRequest): error when creating "nested.yaml": Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.replica", unknown field "spec.template.spec.containers[0].imagePulPolicy"\n',
    )
  })

  // Reading a file, kubectl drops all but the last of them itself; sent as it is, the server sees them.
  it('refuses a duplicated field by its name', async () => {
    cluster.kubectl.file('duplicate.json', duplicate)
    expect(await cluster.kubectl.refused(`create --raw ${collection}?fieldValidation=Strict -f duplicate.json`)).toBe(
      'Error from server (BadRequest): ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a"\n',
    )
  })

  it('refuses what apply would add to an object', async () => {
    await cluster.kubectl.ok('apply -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unknown}\n')
    expect(await cluster.kubectl.refused('apply -f - --validate=strict', unknown)).toMatch(/strict decoding error: unknown field "datta"\n$/)
    await cluster.kubectl.ok('delete configmap unknown')
  })
})

describe('--validate=warn', () => {
  it('warns of an unknown field and goes on without it', async () => {
    expect(await cluster.kubectl.run('create -f - --validate=warn', unknown)).toEqual({ code: 0, out: 'configmap/unknown created\n', err: 'Warning: unknown field "datta"\n' })
    expect(await cluster.kubectl.ok('get configmap unknown -o jsonpath={.datta}')).toBe('')
    await cluster.kubectl.ok('delete configmap unknown')
  })

  it('warns of a duplicated field and takes the last', async () => {
    cluster.kubectl.file('duplicate.json', duplicate)
    const { code, out, err } = await cluster.kubectl.run(`create --raw ${collection}?fieldValidation=Warn -f duplicate.json`)
    expect({ code, err }).toEqual({ code: 0, err: 'Warning: duplicate field "data.a"\n' })
    expect(JSON.parse(out)).toMatchObject({ data: { a: 'c' } })
    await cluster.kubectl.ok('delete configmap duplicate')
  })
})

describe('--validate=ignore', () => {
  it('goes on without a word', async () => {
    expect(await cluster.kubectl.run('create -f - --validate=ignore', unknown)).toEqual({ code: 0, out: 'configmap/unknown created\n', err: '' })
  })
})

describe('what the server checks in any case', () => {
  const pod = (spec: object) => JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bad' }, spec })

  it.each([
    [
      'a value of another type',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad"},"data":{"a":1}}',
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string\n',
    ],
    ['a required field that is missing', pod({ containers: [] }), 'The Pod "bad" is invalid: spec.containers: Required value\n'],
    [
      'several fields at once',
      pod({ restartPolicy: 'Sometimes', containers: [{ name: 'a b', image: 'nginx' }] }),
      `The Pod "bad" is invalid: \n* spec.containers[0].name: Invalid value: "a b": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')\n* spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"\n`,
    ],
  ])('%s', async (_, body, message) => {
    expect(await cluster.kubectl.refused('create -f -', body)).toBe(message)
  })

  it('a kind that is not served', async () => {
    expect(await cluster.kubectl.refused('create -f - --validate=false', '{"apiVersion":"v1","kind":"Boat","metadata":{"name":"bad"}}')).toBe(
      'error: resource mapping not found for name: "bad" namespace: "" from "STDIN": no matches for kind "Boat" in version "v1"\nensure CRDs are installed first\n',
    )
  })

  it('an object without a name', async () => {
    expect(await cluster.kubectl.refused('create -f -', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}')).toBe(
      'The ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required\n',
    )
  })

  it('warnings reach the user', async () => {
    const { err } = await cluster.kubectl.run('create -f - --dry-run=server', JSON.stringify({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'old' } }))
    expect(err).toBe('Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n')
  })
})
