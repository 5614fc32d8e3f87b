import { type ScorePlugin, maxScore } from '../plugin.ts'

const mb = 1024 * 1024
/** Smaller images are pulled quickly and are ignored. */
const smallBytes = 23 * mb
/** Per container. Larger images score the same. */
const largeBytes = 1000 * mb

/** An image name as nodes report it. */
const listedName = (image: string): string =>
  image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image

/**
 * Prefers nodes that have the pod's images. The score grows with the number of nodes that have an image, otherwise all
 * pods of a workload would follow the first.
 */
export const imageLocality: ScorePlugin = {
  name: 'ImageLocality',
  weight: 1,
  scorer({ pod: { spec } }, { cluster }) {
    const containers = [...(spec.initContainers ?? []), ...spec.containers]
    const images = containers.flatMap(({ image = '' }) => cluster.images.get(listedName(image)) ?? [])
    if (images.length === 0) return undefined
    const all = cluster.nodes.length
    const highest = largeBytes * containers.length
    return {
      score({ name }) {
        let sum = 0
        for (const { bytes, nodes } of images) if (nodes.has(name)) sum += Math.trunc(bytes * (nodes.size / all))
        return Math.trunc(
          (maxScore * (Math.min(Math.max(sum, smallBytes), highest) - smallBytes)) / (highest - smallBytes),
        )
      },
    }
  },
}
