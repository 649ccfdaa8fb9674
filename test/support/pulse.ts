/**
 * Watches how long this thread works without letting others in, until `stop`, which answers the longest stretch in ms.
 * Work is measured, not time: a busy machine does not count.
 */
export function watchPulse(): { stop(): number } {
  let longest = 0
  let since = process.threadCpuUsage()
  const pulse = setInterval(() => {
    const { user, system } = process.threadCpuUsage(since)
    longest = Math.max(longest, (user + system) / 1000)
    since = process.threadCpuUsage()
  }, 1)
  return {
    stop() {
      clearInterval(pulse)
      return longest
    },
  }
}
