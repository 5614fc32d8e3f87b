import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'

// Manifests in the shape of public installs: their kinds, definitions, webhooks, API services, roles and labels.
// NAME.objects.yaml has instances of the definitions in NAME.yaml.
const folder = path.resolve(import.meta.dirname, '../fixtures/installs')
const installs = readdirSync(folder).flatMap((file) => /^([^.]*)\.yaml$/.exec(file)?.[1] ?? [])
const cluster = useEverything(['--runtime', 'simulated', '--nodes', '2', '--dashboard', 'false'])

/** The server itself answers this API. As in Kubernetes, the APIService of a local API is made anew after a delete. */
const servedHere = 'apiservice.apiregistration.k8s.io/v1beta1.metrics.k8s.io'

const filesOf = (name: string) => [`${folder}/${name}.yaml`, `${folder}/${name}.objects.yaml`].filter(existsSync)
const countIn = (file: string) => readFileSync(file, 'utf8').match(/^kind: /gm)!.length
const linesOf = (text: string) => text.trim().split('\n')

/** An install has up to a hundred objects, which are applied, read and deleted one after the other. */
const limitMs = 100_000
const slowly = (line: string) => cluster.kubectl.ok(line, '', {}, limitMs)

describe.each(installs)('%s', (name) => {
  it.each([['on the client’s side', ''], ['on the server’s side', '--server-side']])('is applied whole %s, again, and deleted', async (_, flags) => {
    for (const file of filesOf(name)) {
      expect(linesOf(await slowly(`apply ${flags} -f ${file}`))).toHaveLength(countIn(file))
      await cluster.kubectl.run('wait --for=condition=Established crd --all --timeout=90s', '', {}, limitMs)
    }
    for (const file of filesOf(name)) {
      expect(linesOf(await slowly(`get -f ${file} -o name`))).toHaveLength(countIn(file))
      const again = linesOf(await slowly(`apply ${flags} -f ${file}`))
      expect(again.filter((line) => !/ (unchanged|configured|serverside-applied)$/.test(line))).toEqual([])
      expect((await cluster.kubectl.run(`diff ${flags} -f ${file}`, '', {}, limitMs)).err).toBe('')
    }
    for (const file of filesOf(name).reverse()) {
      // The namespace is deleted first, and its contents with it: they may be gone before kubectl comes to them.
      expect(linesOf(await slowly(`delete -f ${file} --ignore-not-found --timeout=90s`))).toContainEqual(expect.stringContaining(' deleted'))
      const left = (await cluster.kubectl.run(`get -f ${file} -o name --ignore-not-found`, '', {}, limitMs)).out.split('\n')
      expect(left.filter((line) => line !== '' && line !== servedHere)).toEqual([])
    }
    expect(await slowly('get crd,validatingwebhookconfigurations,mutatingwebhookconfigurations -o name')).toBe('')
  }, 600_000)

  it('has a schema by which all of its objects pass strictly', async () => {
    for (const file of filesOf(name).slice(0, 1)) {
      const out = await slowly(`apply --dry-run=server --validate=strict -f ${file}`).catch((e: Error) => e.message)
      // Nothing is made, so that what lives in a namespace of the install has none yet.
      expect(out.split('\n').filter((line) => /^Error|unknown field|is invalid/.test(line) && !/namespaces "[\w-]+" not found/.test(line))).toEqual([])
    }
  }, 150_000)
})
