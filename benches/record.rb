# frozen_string_literal: true

require "json"

# Saves benchmark measurements for tools/figures.py: see record.py.
module Record
  module_function

  # Saves the samples of a route. The first route of a table and case is the baseline for the
  # others.
  def samples(table, kase, route, samples, unit: "s", size: 0)
    append({ table: table, case: kase, route: route, unit: unit, bytes: size, samples: samples })
  end

  # Saves the versions of libraries and interpreters.
  def versions(found)
    append({ versions: found })
  end

  def append(line)
    path = ENV.fetch("REGAUGE_BENCH_JSON", nil)
    File.open(path, "a") { |file| file.puts(::JSON.generate(line)) } if path
  end
end
