import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import type { ResourceRule, SelfSubjectAccessReview, SelfSubjectRulesReview } from '../../api/generated/types.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { ApiRequest, Transport } from '../../client/index.ts'
import { Viewer } from './viewer.ts'

/** An API server whose user has rules in namespaces. */
class Reviews implements Transport {
  readonly rules: Record<string, ResourceRule[]> = {}
  readonly asked: string[] = []
  isIncomplete = false
  error: Error | undefined
  isClosed = false

  async send<T>({ path, body }: ApiRequest): Promise<T> {
    if (this.error) throw this.error
    if (path.endsWith('/selfsubjectreviews')) return { status: { userInfo: { username: 'jane' } } } as T
    if (path.endsWith('/selfsubjectrulesreviews')) {
      const { namespace = '' } = (body as SelfSubjectRulesReview).spec
      this.asked.push(`rules ${namespace}`)
      return { status: { incomplete: this.isIncomplete, resourceRules: this.rules[namespace] ?? [], nonResourceRules: [] } } as T
    }
    const { namespace = '', resource = '', verb = '' } = (body as SelfSubjectAccessReview).spec.resourceAttributes!
    this.asked.push(`${verb} ${resource} ${namespace}`.trim())
    return { status: { allowed: (this.rules[namespace] ?? []).some(({ resources, verbs }) => resources?.includes(resource) && verbs.includes(verb)) } } as T
  }

  watch = () => () => {}
  close = async () => void (this.isClosed = true)
}

async function scene() {
  const clock = new VirtualClock(0)
  const reviews = new Reviews()
  const viewer = await Viewer.by(reviews, {} as never, clock, new SeededRandom(1))
  return { clock, reviews, viewer }
}

const lists = (...resources: string[]): ResourceRule[] => [{ verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources }]

describe('Viewer', () => {
  it('has the name that the API server knows, and is refused with its error', async () => {
    const { viewer } = await scene()
    expect(viewer.name).toBe('jane')
    const reviews = new Reviews()
    reviews.error = new ApiError(401, 'Unauthorized', 'Unauthorized', {})
    await expect(Viewer.by(reviews, {} as never, new VirtualClock(), new SeededRandom(1))).rejects.toThrow('Unauthorized')
    expect(reviews.isClosed).toBe(true)
  })

  it('ends when the API server rejects its credentials, and not after other errors', async () => {
    const { reviews, viewer } = await scene()
    for (const [code, isEnded] of [[403, false], [503, false], [401, true]] as const) {
      reviews.error = new ApiError(code, 'Unauthorized', 'no', {})
      await expect(viewer.may({ verb: 'list', group: '', resource: `pods-${code}` })).rejects.toThrow('no')
      expect(viewer.ended.aborted).toBe(isEnded)
    }
  })

  it('remembers an answer for ten seconds, and no error', async () => {
    const { clock, reviews, viewer } = await scene()
    const may = () => viewer.may({ verb: 'list', group: '', resource: 'pods' })
    reviews.error = new Error('connect ECONNREFUSED')
    await expect(may()).rejects.toThrow('ECONNREFUSED')
    reviews.error = undefined
    for (const waitMs of [0, 9999, 1]) {
      clock.advance(waitMs)
      expect(await may()).toBe(false)
    }
    expect(reviews.asked).toEqual(['list pods', 'list pods'])
  })
})

describe('Viewer.scope()', () => {
  it('of a user who may list everything needs no namespaces', async () => {
    const { reviews, viewer } = await scene()
    reviews.rules[''] = lists('pods', 'nodes', 'events', 'persistentvolumeclaims', 'poddisruptionbudgets', 'deployments', 'replicasets', 'statefulsets', 'daemonsets', 'clonesets', 'jobs', 'cronjobs', 'replicationcontrollers')
    const scope = await viewer.scope(['a', 'b'])
    expect([scope.shows('Deployment', 'a'), scope.shows('Node', '')]).toEqual([true, true])
    expect(reviews.asked.filter((one) => one.startsWith('rules'))).toEqual([])
  })

  it('asks once for each namespace', async () => {
    const { reviews, viewer } = await scene()
    reviews.rules['a'] = lists('deployments', 'nodes')
    reviews.rules['b'] = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
    reviews.rules['c'] = [{ verbs: ['list'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['web'] }, { verbs: ['get'], apiGroups: [''], resources: ['pods'] }]
    const scope = await viewer.scope(['a', 'b', 'c'])
    const shown = ['a', 'b', 'c'].map((namespace) => ['Deployment', 'Pod', 'Node'].filter((kind) => scope.shows(kind, kind === 'Node' ? '' : namespace)))
    expect(shown).toEqual([['Deployment'], ['Deployment', 'Pod'], []])
    expect(reviews.asked.filter((one) => !/^list \w+$/.test(one))).toEqual(['rules a', 'rules b', 'rules c'])
  })

  it('asks for each kind if the API server does not know all rules', async () => {
    const { reviews, viewer } = await scene()
    reviews.isIncomplete = true
    reviews.rules['a'] = lists('pods')
    const scope = await viewer.scope(['a'])
    expect([scope.shows('Pod', 'a'), scope.shows('Deployment', 'a')]).toEqual([true, false])
    expect(reviews.asked).toContain('list pods a')
  })
})
