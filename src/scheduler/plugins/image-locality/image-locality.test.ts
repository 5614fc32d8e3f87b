import { describe, expect, it } from 'vitest'
import { sampleNode, samplePod, sampleWorld, scores } from '../sample-world.ts'
import { imageLocality } from './image-locality.ts'

const mb = 1024 * 1024
const having = (name: string, image: string, megabytes: number) => sampleNode(name, { status: { images: [{ names: [image], sizeBytes: megabytes * mb }] } })
const running = (image: string) => samplePod('web', { spec: { containers: [{ name: 'main', image, resources: {} }] } })

describe('ImageLocality', () => {
  it('prefers nodes that have the image, the more of them do', () => {
    const image = 'registry.example/app:1'
    expect(scores(imageLocality, running(image), sampleWorld({ nodes: [having('a', image, 500), sampleNode('b')] }))).toEqual({ a: 23, b: 0 })
    expect(scores(imageLocality, running(image), sampleWorld({ nodes: [having('a', image, 500), having('b', image, 500)] }))).toEqual({ a: 48, b: 48 })
  })

  it('knows images without a tag', () => {
    const world = sampleWorld({ nodes: [having('a', 'registry.example:5000/app:latest', 1000)] })
    expect(scores(imageLocality, running('registry.example:5000/app'), world)).toEqual({ a: 100 })
  })

  it('has no opinion about images that no node has', () => {
    const world = sampleWorld({ nodes: [having('a', 'registry.example/app:1', 1000)] })
    expect(scores(imageLocality, running('registry.example/app:2'), world)).toBeUndefined()
  })

  it('forgets images that a node has no more', () => {
    const world = sampleWorld({ nodes: [having('a', 'registry.example/app:1', 1000)] })
    world.cluster.setNode(sampleNode('a'))
    expect(scores(imageLocality, running('registry.example/app:1'), world)).toBeUndefined()
  })
})
