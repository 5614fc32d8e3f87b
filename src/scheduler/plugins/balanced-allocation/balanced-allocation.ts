import { type ScorePlugin, maxScore } from '../plugin.ts'

/** Prefers nodes whose CPU and memory would be used evenly. Pods without requests are not scored. */
export const balancedAllocation: ScorePlugin = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  scorer: ({ requests }) =>
    requests.cpu === 0 && requests.memory === 0
      ? undefined
      : {
          score({ allocatable, requested }) {
            if (allocatable.cpu === 0 || allocatable.memory === 0) return maxScore
            const cpu = Math.min(1, (requested.cpu + requests.cpu) / allocatable.cpu)
            const memory = Math.min(1, (requested.memory + requests.memory) / allocatable.memory)
            // The standard deviation of two numbers is half of their distance.
            return Math.trunc((1 - Math.abs(cpu - memory) / 2) * maxScore)
          },
        },
}
