# frozen_string_literal: true

# Is loaded into a Ruby process whose library is given hostile documents (docs/safety.md). The
# documents name this class. It writes a file into the working folder, a sandbox, when a method of
# it runs, and at the end when an object of it was made; it does nothing else.
class RegaugeProbe
  def self.ran(name) = File.write("regauge-method", name)

  def self._load(_bytes)
    ran("_load")
    new
  end

  def self.json_create(_members)
    ran("json_create")
    new
  end

  def marshal_load(_value) = RegaugeProbe.ran("marshal_load")

  def init_with(_coder) = RegaugeProbe.ran("init_with")

  def hash
    RegaugeProbe.ran("hash")
    0
  end
end

at_exit do
  made = ObjectSpace.each_object(RegaugeProbe).first
  File.write("regauge-object", "made") if made
rescue StandardError
  # JRuby lists no objects unless it is told to: then nothing is claimed.
end
